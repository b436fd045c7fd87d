module github.com/botctx/go-sdk/script/patterns

go 1.26.0

require (
	github.com/botctx/go-sdk v0.1.0
	github.com/botctx/go-sdk/backends/bolt v0.1.0
	github.com/botctx/go-sdk/script v0.1.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorhill/cronexpr v0.0.0-20180427100037-88b0669f7d75 // indirect
	github.com/nlnwa/whatwg-url v0.6.2 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace (
	github.com/botctx/go-sdk => ../..
	github.com/botctx/go-sdk/backends/bolt => ../../backends/bolt
	github.com/botctx/go-sdk/script => ..
)
