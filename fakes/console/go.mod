module github.com/botctx/go-sdk/fakes/console

go 1.26.0

require (
	github.com/botctx/go-sdk v0.1.0
	github.com/creack/pty v1.1.24
	github.com/mattn/go-runewidth v0.0.31
	github.com/stretchr/testify v1.12.1
	golang.org/x/term v0.46.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorhill/cronexpr v0.0.0-20180427100037-88b0669f7d75 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/botctx/go-sdk => ../..
