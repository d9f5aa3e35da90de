package lesson

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// renderEnv names the environment variable that holds the path of the Unix
// socket of scripts/charts/render.mjs. Without it figures have no static
// picture, and are drawn by the page alone.
const renderEnv = "MEMORYWALL_RENDER"

// renderLimit bounds the wait for a picture: the first one may find the
// renderer still starting.
var renderLimit = 2 * time.Second

// picture returns the option drawn as SVG, or nil when there is no renderer
// that answers in time.
func picture(option []byte, id string, width, height int) []byte {
	socket := os.Getenv(renderEnv)
	if socket == "" {
		return nil
	}
	deadline := time.Now().Add(renderLimit)
	target := fmt.Sprintf("/svg?width=%d&height=%d&id=%s", width, height, id)
	for {
		answer, err := post(socket, target, option, deadline)
		if err == nil {
			return answer
		}
		// The kernel starts the renderer, and a first cell can be faster.
		if !starting(err) || time.Now().Add(50*time.Millisecond).After(deadline) {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// post sends one HTTP request over a Unix socket and returns the body of the
// answer. The package net/http would double the size of every cell's program.
func post(socket, target string, body []byte, deadline time.Time) ([]byte, error) {
	conn, err := dial(socket, deadline)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var request bytes.Buffer
	fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: render\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", target, len(body))
	request.Write(body)
	if _, err := conn.Write(request.Bytes()); err != nil {
		return nil, err
	}
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(conn); err != nil {
		return nil, err
	}
	return parseAnswer(answer.Bytes())
}

// parseAnswer takes an HTTP answer apart. The renderer always says how long
// its answer is.
func parseAnswer(answer []byte) ([]byte, error) {
	head, body, found := bytes.Cut(answer, []byte("\r\n\r\n"))
	lines := bytes.Split(head, []byte("\r\n"))
	status := bytes.Fields(lines[0])
	if !found || len(status) < 2 {
		return nil, fmt.Errorf("lesson: the renderer's answer is no HTTP")
	}
	length := -1
	for _, line := range lines[1:] {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if n, err := strconv.Atoi(string(bytes.TrimSpace(value))); err == nil {
				length = n
			}
		}
	}
	if length != len(body) {
		return nil, fmt.Errorf("lesson: the renderer's answer has %d bytes: it announced %d", len(body), length)
	}
	if string(status[1]) != "200" {
		return nil, fmt.Errorf("lesson: the renderer says %s", bytes.TrimSpace(body))
	}
	return body, nil
}
