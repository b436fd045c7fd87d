module github.com/botctx/go-sdk/script

go 1.26.0

require (
	github.com/botctx/go-sdk v0.1.0
	github.com/nlnwa/whatwg-url v0.6.2
	github.com/stretchr/testify v1.12.1
	github.com/tetratelabs/wazero v1.12.0
	github.com/tidwall/gjson v1.20.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	golang.org/x/net v0.59.0 // indirect
)

require (
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorhill/cronexpr v0.0.0-20180427100037-88b0669f7d75 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.42.0
)

replace github.com/botctx/go-sdk => ..
