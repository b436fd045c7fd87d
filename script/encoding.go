package script

import (
	"encoding/base64"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/url"

	"github.com/botctx/go-sdk/boterr"
)

// installURL gives scripts URL and URLSearchParams.
func (r *run) installURL() {
	module, exports := r.vm.NewObject(), r.vm.NewObject()
	_ = module.Set("exports", exports)
	url.Require(r.vm, module)
	for _, name := range []string{"URL", "URLSearchParams"} {
		r.globalValue(name, exports.Get(name))
	}
}

// installEncoding gives scripts structuredClone, atob and btoa.
func (r *run) installEncoding() {
	r.globalFunction("structuredClone", func(call goja.FunctionCall) goja.Value {
		value, err := r.fromScript(call.Argument(0), nil)
		if err != nil {
			panic(r.errorObject(err))
		}
		return r.toScript(orNull(value))
	})
	r.globalFunction("btoa", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(base64.StdEncoding.EncodeToString(r.latin1(call.Argument(0).String())))
	})
	r.globalFunction("atob", func(call goja.FunctionCall) goja.Value {
		text := strings.TrimRight(strings.Join(strings.Fields(call.Argument(0).String()), ""), "=")
		decoded, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			panic(r.errorObject(boterr.Invalid("", "the text is no base64")))
		}
		var characters strings.Builder
		for _, b := range decoded {
			characters.WriteRune(rune(b))
		}
		return r.vm.ToValue(characters.String())
	})
}

// latin1 returns the bytes of a text whose characters are bytes.
func (r *run) latin1(text string) []byte {
	var bytes []byte
	for _, character := range text {
		if character > 0xFF {
			panic(r.errorObject(boterr.Invalid("", "btoa takes characters up to U+00FF: encode the text as UTF-8 first")))
		}
		bytes = append(bytes, byte(character))
	}
	return bytes
}
