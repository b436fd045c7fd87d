package query

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// arrayFilter is the filter of a "$[name]" in an update path.
type arrayFilter struct {
	name   string
	filter *Filter
	used   bool
}

// match reports whether an array element matches.
func (f *arrayFilter) match(item any, e *Evaluation) bool {
	return e.spend(objectWork) && f.filter.root.match(document.Object{}.Put(f.name, item), e)
}

// arrayFilterSet are the array filters of an update by name.
type arrayFilterSet struct {
	filters []*arrayFilter
	byName  map[string]*arrayFilter
}

// identifier is what the name of an array filter looks like.
var identifier = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func compileArrayFilters(sources []document.Object) (set arrayFilterSet, err error) {
	if len(sources) > 0 {
		set.byName = make(map[string]*arrayFilter, len(sources))
	}
	for i, source := range sources {
		field := "arrayFilters" + boterr.Index(i)
		f, err := compileArrayFilter(source)
		if err != nil {
			return set, boterr.PrefixField(field, err)
		}
		if set.byName[f.name] != nil {
			return set, boterr.Invalid(field, "there is another array filter for %q", f.name)
		}
		set.filters = append(set.filters, f)
		set.byName[f.name] = f
	}
	return set, nil
}

func compileArrayFilter(source document.Object) (*arrayFilter, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if special := specialOperator(source); special != "" {
		return nil, boterr.Invalid(special, "%s cannot stand in an array filter", special)
	}
	filter, err := compileFilter(source, filterCompiler{})
	if err != nil {
		return nil, err
	}
	names := map[string]struct{}{}
	collectIdentifiers(source, names)
	if len(names) != 1 {
		return nil, boterr.Invalid("", "an array filter is about one name, this one about %d", len(names))
	}
	for name := range names {
		if !identifier.MatchString(name) {
			return nil, boterr.Invalid("", "%q is no name for an array filter: a lower-case letter, then letters and digits", name)
		}
		return &arrayFilter{name: name, filter: filter}, nil
	}
	return nil, nil //nolint:nilnil // Not reached: there is one name.
}

// collectIdentifiers gathers the first part of every path in a query.
func collectIdentifiers(query document.Object, names map[string]struct{}) {
	for key, operand := range query.All() {
		if !isOperator(key) {
			name, _, _ := strings.Cut(key, ".")
			names[name] = struct{}{}
			continue
		}
		clauses, _ := operand.(document.Array)
		for _, clause := range clauses.Items() {
			if o, ok := clause.(document.Object); ok {
				collectIdentifiers(o, names)
			}
		}
	}
}

// use returns the filter that a path names.
func (s *arrayFilterSet) use(name string) (*arrayFilter, error) {
	f := s.byName[name]
	if f == nil {
		return nil, boterr.Invalid("", "there is no array filter for $[%s]", name)
	}
	f.used = true
	return f, nil
}

// checkUsed refuses a filter that no path names.
func (s *arrayFilterSet) checkUsed() error {
	for i, f := range s.filters {
		if !f.used {
			return boterr.Invalid("arrayFilters"+boterr.Index(i), "no path of the update names $[%s]", f.name)
		}
	}
	return nil
}

// indexName is an index as a part of a path.
func indexName(i int) string { return strconv.Itoa(i) }
