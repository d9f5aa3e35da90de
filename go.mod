module memorywall

go 1.26.0

require (
	github.com/go-echarts/go-echarts/v2 v2.6.7
	github.com/janpfeifer/gonb v0.11.4
	golang.org/x/sys v0.29.0
	golang.org/x/text v0.38.0
	gonum.org/v1/gonum v0.17.0
)

// Packages of npm may hold Go files.
ignore node_modules
