package inbound

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// Texts returns the strings at paths of a JSON object, such as "team.id", without decoding the body. Handlers use
// them to find the secret before they verify the signature. A missing string is "". If a name occurs twice, the first
// one counts, so callers must compare the strings after decoding. It returns false if the body is not a JSON object.
func Texts(body []byte, paths ...string) ([]string, bool) {
	if !json.Valid(body) || !gjson.ParseBytes(body).IsObject() {
		return nil, false
	}
	texts := make([]string, len(paths))
	for i, result := range gjson.GetManyBytes(body, paths...) {
		if result.Type == gjson.String {
			texts[i] = result.String()
		}
	}
	return texts, true
}
