module github.com/botctx/go-sdk/internal/release

go 1.26.0

require (
	github.com/botctx/go-sdk v0.1.0
	github.com/botctx/go-sdk/backends/mongo/mongotest v0.1.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/mod v0.42.0
)

require (
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	go.mongodb.org/mongo-driver/v2 v2.9.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace (
	github.com/botctx/go-sdk => ../..
	github.com/botctx/go-sdk/backends/mongo => ../../backends/mongo
	github.com/botctx/go-sdk/backends/mongo/mongotest => ../../backends/mongo/mongotest
)
