package inbound

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// Texts returns the texts at paths of a JSON object, such as "team.id", which say from whom a
// request comes, so that its signature can be checked before it is read. It goes through the
// body and builds nothing of the rest; where there is no text, "" stands. Of names that stand
// there twice it takes the first: who reads the body afterwards compares. It reports false for
// what is no JSON object.
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
