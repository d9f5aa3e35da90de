package lesson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Colours of text outside figures. Muted text follows JupyterLab's theme where
// the page knows it. The others mix their hue with the colour of the text around
// them, so that they darken on light paper and lighten on dark. An untrusted
// notebook drops both forms and keeps the rest of a style: every piece is
// readable without them.
const (
	styleMuted  = "color:var(--jp-ui-font-color2,#59636e)"
	styleHeld   = "color:color-mix(in srgb,#2da44e 65%,currentcolor)"
	styleFailed = "color:color-mix(in srgb,#e5484d 65%,currentcolor)"
)

// awaken is the script of a figure: it loads scripts/charts/figure.js from
// Jupyter's server, once for the page, and hands it the figure's element. That
// is the script's own parent, because two views of one notebook hold the same
// ids twice. Where anything is missing the picture stays.
const awaken = `(function(me){"use strict";` +
	`var host=me&&me.parentNode,w=window,d=document;` +
	`if(!host||!host.querySelector)return;` +
	`function folder(){` +
	`if(w.memorywallFolder)return w.memorywallFolder;` +
	`var c=d.getElementById("jupyter-config-data"),b=null;` +
	`try{b=c&&JSON.parse(c.textContent).baseUrl}catch(e){}` +
	`b=b||d.body.getAttribute("data-base-url")||d.documentElement.getAttribute("data-base-url");` +
	`return b?b.replace(/\/?$/,"/")+"files/scripts/charts/":null}` +
	`var f=folder();` +
	`if(f===null&&!(w.memorywall&&w.memorywall.show))return;` +
	`function show(){return w.memorywall.show(host,f||"")}` +
	`if(!(w.memorywall&&w.memorywall.show)&&!w.memorywallLoading){` +
	`w.memorywallLoading=new Promise(function(ok,no){` +
	`var s=d.createElement("script");s.src=f+"figure.js";s.onload=ok;s.onerror=no;d.head.appendChild(s)});` +
	`w.memorywallLoading.catch(function(){setTimeout(function(){w.memorywallLoading=null},5000)})}` +
	`Promise.resolve(w.memorywallLoading).then(show).catch(function(e){` +
	`if(w.console)console.info("memorywall: the picture stays, the figure was not drawn: "+(e&&e.message||"cannot load "+f+"figure.js"))})` +
	`})(document.currentScript)`

// html is the figure as a page shows it: the picture, the numbers behind it,
// and what makes it live. t is the table of numbers.
func (f Figure) html(option, svg []byte, t Table) (string, error) {
	data, err := t.csv()
	if err != nil {
		return "", err
	}
	values, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	w, h := f.size()
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="memorywall-figure" id="%s">`, f.ID)
	fmt.Fprintf(&b, `<div class="memorywall-stage" style="width:%dpx;height:%dpx">`, w, h)
	alt := f.inWords()
	if svg != nil {
		fmt.Fprintf(&b, `<img src="%s" width="%d" height="%d" alt="%s">`, dataURL(svg), w, h, esc(alt))
	} else {
		fmt.Fprintf(&b, `<p style="%s">%s</p>`, styleMuted, esc(alt))
	}
	b.WriteString(`</div>`)
	for _, hint := range f.hints {
		fmt.Fprintf(&b, `<div style="font-size:90%%;%s">%s</div>`, styleMuted, esc(hint))
	}
	// figure.js puts what saves the figure beside the table. The keys of a
	// notebook must not act there.
	b.WriteString(`<div class="memorywall-foot" data-lm-suppress-shortcuts="true"><details><summary>The numbers behind this figure</summary>` + t.html() + `</details></div>`)
	fmt.Fprintf(&b, `<script type="application/json">{"width":%d,"height":%d,"option":%s,"csv":%s}</script>`, w, h, scriptSafe(option), scriptSafe(values))
	b.WriteString(`<script>` + awaken + `</script></div>`)
	return b.String(), nil
}

// inWords is the claim and the finding, for those who cannot see the figure.
func (f Figure) inWords() string {
	if f.Title == "" || f.Alt == "" {
		return f.Title + f.Alt
	}
	return strings.TrimSuffix(f.Title, ".") + ". " + f.Alt
}

// scriptSafe makes JSON safe inside a script element, where "</script" and
// "<!--" would end it or change how it is read. Inside JSON "<" can stand in
// strings only.
func scriptSafe(text []byte) []byte { return bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`)) }
