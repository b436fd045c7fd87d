package document

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// projectStage is $project where it includes and computes fields.
type projectStage struct{ level *projectLevel }

// projectLevel are the fields that a $project names, at one level of the document.
type projectLevel struct {
	names  []string
	fields []projectField
	// at are the places of the names.
	at map[string]int
	// computes tells that a field here or further inside is computed.
	computes bool
}

// projectField is one of them: fields inside, a computed value, or a field that is
// included or excluded.
type projectField struct {
	inside   *projectLevel
	computed expression
}

// projectSpec is a $project that is being compiled.
type projectSpec struct {
	level *projectLevel
	// includes and excludes are a field that does so, but for _id.
	includes, excludes string
	// id is what the $project says of the _id, nil where it says nothing.
	id *bool
}

func newProjectLevel() *projectLevel { return &projectLevel{at: map[string]int{}} }

// compileProjectStage compiles $project: the fields to include, beside which others are
// computed, or those to exclude. The _id is included unless it is excluded.
func compileProjectStage(operand any) (stage, error) {
	source, ok := operand.(Object)
	if !ok {
		return nil, wrongType("object", operand)
	}
	if source.Len() == 0 {
		return nil, boterr.Invalid("", "must name at least one field")
	}
	p := &projectSpec{level: newProjectLevel()}
	if err := p.addAll(p.level, source); err != nil {
		return nil, err
	}
	if p.excludes != "" || p.includes == "" && p.id != nil && !*p.id {
		return p.exclusion()
	}
	if p.id == nil || *p.id {
		if _, ok := p.level.at[IDField]; !ok {
			p.level.append(IDField, projectField{})
		}
	}
	p.level.settle()
	return projectStage{p.level}, nil
}

// addAll adds the fields of an object, by their paths.
func (p *projectSpec) addAll(level *projectLevel, source Object) error {
	for path, value := range source.All() {
		if err := p.addAt(level, path, value); err != nil {
			return boterr.In(path, err)
		}
	}
	return nil
}

// addAt adds what stands at a path.
func (p *projectSpec) addAt(level *projectLevel, path string, value any) error {
	if err := checkExpressionPath(path); err != nil {
		return err
	}
	switch v := value.(type) {
	case bool, int64, float64:
		return p.choose(level, path, value)
	case Object:
		if isOperatorObject(v) {
			break
		}
		if v.Len() == 0 {
			return boterr.Invalid("", "an empty object says nothing about the fields inside; for one as a value use $literal")
		}
		inner, err := level.insideAt(path)
		if err != nil {
			return err
		}
		return p.addAll(inner, v)
	}
	computed, err := compileExpression(value)
	if err != nil {
		return err
	}
	if err := p.mustInclude(path); err != nil {
		return err
	}
	return level.add(path, projectField{computed: computed})
}

// choose includes or excludes a field.
func (p *projectSpec) choose(level *projectLevel, path string, value any) error {
	wanted := isTrue(value)
	switch {
	case level == p.level && path == IDField:
		p.id = &wanted
		if !wanted {
			return nil
		}
	case wanted:
		if err := p.mustInclude(path); err != nil {
			return err
		}
	case p.includes != "":
		return boterr.Invalid("", "cannot be excluded beside %s, which is included or computed", p.includes)
	default:
		p.excludes = path
	}
	return level.add(path, projectField{})
}

// mustInclude refuses a field beside those that are excluded.
func (p *projectSpec) mustInclude(path string) error {
	if p.excludes != "" {
		return boterr.Invalid("", "cannot be included or computed beside %s, which is excluded", p.excludes)
	}
	p.includes = path
	return nil
}

// exclusion returns the stage that removes the fields.
func (p *projectSpec) exclusion() (stage, error) {
	removed := p.level.removed()
	if p.id != nil {
		delete(removed.inside, IDField)
		if !*p.id {
			removed.inside[IDField] = nil
		}
	}
	return removed, nil
}

// removed returns the fields of a level as those to remove.
func (l *projectLevel) removed() *removedFields {
	t := &removedFields{inside: make(map[string]*removedFields, len(l.names))}
	for i, name := range l.names {
		t.inside[name] = nil
		if inside := l.fields[i].inside; inside != nil {
			t.inside[name] = inside.removed()
		}
	}
	return t
}

// add adds a field at a path.
func (l *projectLevel) add(path string, field projectField) error {
	name := path
	if last := strings.LastIndexByte(path, '.'); last >= 0 {
		var err error
		if l, err = l.insideAt(path[:last]); err != nil {
			return err
		}
		name = path[last+1:]
	}
	if _, ok := l.at[name]; ok {
		return conflictAt(path)
	}
	l.append(name, field)
	return nil
}

func (l *projectLevel) append(name string, field projectField) {
	l.at[name] = len(l.names)
	l.names = append(l.names, name)
	l.fields = append(l.fields, field)
}

// insideAt returns the level at a path, made where there is none.
func (l *projectLevel) insideAt(path string) (*projectLevel, error) {
	for name := range strings.SplitSeq(path, ".") {
		at, ok := l.at[name]
		if !ok {
			at = len(l.names)
			l.append(name, projectField{inside: newProjectLevel()})
		}
		if l = l.fields[at].inside; l == nil {
			return nil, conflictAt(path)
		}
	}
	return l, nil
}

// settle finds out which levels compute fields.
func (l *projectLevel) settle() {
	for i := range l.fields {
		field := &l.fields[i]
		if field.inside != nil {
			field.inside.settle()
		}
		l.computes = l.computes || field.computed != nil || field.inside != nil && field.inside.computes
	}
}

func (s projectStage) apply(run *expressionRun) (any, error) { return s.level.object(run, run.root) }

// object returns the fields of an object that are included, in its order, and behind
// them those that are computed.
func (l *projectLevel) object(run *expressionRun, o Object) (any, error) {
	b := newObjectBuilder(len(l.names))
	for name, value := range o.All() {
		at, ok := l.at[name]
		if !ok || l.fields[at].computed != nil {
			continue
		}
		if inside := l.fields[at].inside; inside != nil {
			if depthOf(value) == 0 {
				continue // Where fields inside are computed, they take the place of a scalar below.
			}
			var err error
			if value, err = inside.value(run, value); err != nil {
				return nil, boterr.In(name, err)
			}
		}
		b.set(name, value)
	}
	if !l.computes {
		return run.limits.object(b.object())
	}
	for i, name := range l.names {
		value, err := l.fields[i].compute(run, b.position(name) >= 0)
		if err != nil {
			return nil, boterr.In(name, err)
		}
		if value != missing {
			b.set(name, value)
		}
	}
	return run.limits.object(b.object())
}

// compute returns the value of a field that is computed, or in which fields are where
// it has none yet; else missing.
func (f *projectField) compute(run *expressionRun, hasValue bool) (any, error) {
	switch {
	case f.computed != nil:
		return f.computed.evaluate(run)
	case f.inside != nil && f.inside.computes && !hasValue:
		return f.inside.object(run, O())
	default:
		return missing, nil
	}
}

// value returns what is left of a value: of an array what is left of its elements.
// Missing is left of a scalar, unless fields are computed in its place.
func (l *projectLevel) value(run *expressionRun, value any) (any, error) {
	switch v := value.(type) {
	case Object:
		return l.object(run, v)
	case Array:
		items := make([]any, 0, v.Len())
		for i, item := range v.items() {
			left, err := l.value(run, item)
			if err != nil {
				return nil, boterr.In(indexName(i), err)
			}
			if left != missing {
				items = append(items, left)
			}
		}
		return run.limits.array(items)
	}
	if l.computes {
		return l.object(run, O())
	}
	return missing, nil
}
