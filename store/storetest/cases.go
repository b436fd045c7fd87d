package storetest

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Case is one case of a file of cases: a collection, one operation on it, and what
// must come of it. A line of the file is a Case in JSON.
type Case struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Kind is find, count, distinct, update, replace, findAndModify or geoNear.
	Kind string `json:"kind"`
	// Docs are the documents of the collection, in the order of their insertion.
	Docs         []document.Object `json:"docs"`
	Indexes      [][][]any         `json:"indexes"`
	Filter       any               `json:"filter"`
	Sort         any               `json:"sort"`
	Projection   any               `json:"projection"`
	Skip         any               `json:"skip"`
	Limit        any               `json:"limit"`
	Key          any               `json:"key"`
	Update       any               `json:"update"`
	ArrayFilters any               `json:"arrayFilters"`
	Multi        bool              `json:"multi"`
	Upsert       any               `json:"upsert"`
	New          any               `json:"new"`
	GeoNear      any               `json:"geoNear"`
	// AnyOrder tells that the ids may come in any order although the file keeps
	// order otherwise.
	AnyOrder bool            `json:"anyOrder"`
	Expect   document.Object `json:"expect"`

	// given is the case as the file has it.
	given document.Object
}

// String returns the case as the file has it.
func (c *Case) String() string { return c.given.String() }

// ofServer reports whether the case comes from the file that is checked against the
// server, whose cases have names.
func (c *Case) ofServer() bool { return c.Name != "" }

// Arguments returns the arguments of the operation. What the case gives as another
// type is InvalidArgument, as it is in JSON.
func (c *Case) Arguments() (arguments Arguments, err error) {
	var sort [][]any
	if err := c.checkNull(); err != nil {
		return arguments, err
	}
	for _, argument := range []struct {
		field string
		given any
		into  any
	}{
		{"filter", c.Filter, &arguments.Filter},
		{"sort", c.Sort, &sort},
		{"projection", c.Projection, &arguments.Projection},
		{"skip", truncated(c.Skip), &arguments.Skip},
		{"limit", c.limit(), &arguments.Limit},
		{"update", c.Update, &arguments.Update},
		{"arrayFilters", c.ArrayFilters, &arguments.ArrayFilters},
		{"geoNear", c.GeoNear, &arguments.GeoNear},
		{"key", c.Key, &arguments.Key},
		{"upsert", c.Upsert, &arguments.Upsert},
		{"new", c.New, &arguments.New},
	} {
		if err := document.DecodeValue(argument.given, argument.into); err != nil {
			return arguments, boterr.PrefixField(argument.field, err)
		}
	}
	for _, key := range sort {
		path, _ := key[0].(string)
		arguments.Sort = arguments.Sort.With(path, key[1])
	}
	return arguments, nil
}

// checkNull refuses null where the operation takes none, which is not the same as an
// argument that is absent.
func (c *Case) checkNull() error {
	for field, operations := range map[string][]string{
		"filter": {"find", "update", "replace", "findAndModify"},
		"key":    {"distinct"},
		"limit":  {"count"},
	} {
		if value, ok := c.given.Field(field); ok && value == nil && slices.Contains(operations, c.Kind) {
			return boterr.Invalid(field, "must not be null")
		}
	}
	return nil
}

// limit returns the limit as the operation reads it: one of count may be negative, and
// then means the same.
func (c *Case) limit() any {
	switch limit := c.Limit.(type) {
	case int64:
		if c.Kind == "count" && limit < 0 {
			return -limit
		}
	case float64:
		if c.Kind != "count" {
			return truncated(limit)
		}
	}
	return c.Limit
}

// truncated returns a number without its fraction, and other values as they are.
func truncated(value any) any {
	if f, ok := value.(float64); ok {
		return math.Trunc(f)
	}
	return value
}

// Arguments are the arguments of a case's operation.
type Arguments struct {
	Filter       document.Object
	Sort         document.Object
	Projection   document.Object
	Skip         int64
	Limit        int64
	Key          string
	Upsert       bool
	New          bool
	Update       document.Object
	ArrayFilters []document.Object
	GeoNear      document.Object
}

// ReadCases reads a file of cases.
func ReadCases(file io.Reader) ([]Case, error) {
	const longestLine = 16 << 20
	var cases []Case
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var c Case
		if err := document.DecodeJSON(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(cases)+1, err)
		}
		if err := c.given.UnmarshalJSON(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases, lines.Err()
}
