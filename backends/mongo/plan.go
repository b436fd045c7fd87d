package mongo

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// plan is a change that the server can make in one atomic step, including stamps. Stamps are renewed only in
// documents that change otherwise. So a plan only exists if each document that the server would touch really
// changes: because an operator always changes it, because the filter does not match the result, or, for a
// filter that gives the _id, because of a condition that the plan adds.
type plan struct {
	// update is the caller's update with the stamps, encoded for the server.
	update bson.Raw
	// condition is added to the filter. It is the zero Object if a change is certain. A document that does not
	// meet it may still change.
	condition document.Object
	// contradicts is true if no document matches the filter after the change, so that none is changed twice.
	contradicts bool
}

type planner struct {
	filter *query.Filter
	change query.Change
	// operators are the operators of the server's update, with their operands.
	operators map[string]document.Object
	// set has the values of paths after the update. Removed paths are missing from it, but are in touched as
	// well.
	set     document.Object
	touched []string
	// differs are conditions under which one of the operators changes a document.
	differs []any
	certain bool
}

// planned returns the plan for a change, and false if there is none.
func planned(filter *query.Filter, change query.Change) (plan, bool) {
	if change.Update.IsReplacement() {
		return plan{}, false
	}
	p := planner{filter: filter, change: change, operators: map[string]document.Object{}, set: document.O()}
	for operator, operand := range change.Update.Source().All() {
		paths, _ := operand.(document.Object)
		for path, argument := range paths.All() {
			if !p.isPlain(path) || !p.add(operator, path, argument) {
				return plan{}, false
			}
		}
	}
	var condition document.Object
	contradicts := p.isContradicted(filter.Source())
	if !p.certain && !contradicts {
		if !isPinned(filter) || len(p.differs) == 0 {
			return plan{}, false
		}
		condition = anyOf(p.differs)
	}
	update, err := p.update()
	return plan{update: update, condition: condition, contradicts: contradicts}, err == nil
}

// anyOf joins conditions with $or.
func anyOf(conditions []any) document.Object {
	if one, ok := conditions[0].(document.Object); ok && len(conditions) == 1 {
		return one
	}
	return document.O("$or", document.A(conditions...))
}

// isPlain reports whether a path leads, without "$", to a field that an update may change. Fixed and stamped
// fields require reading the document.
func (p *planner) isPlain(path string) bool {
	top, _, _ := strings.Cut(path, ".")
	return top != document.IDField && !strings.Contains(path, "$") && !slices.Contains(p.change.Fixed, top) &&
		!p.change.Stamps.Set.Has(top) && !slices.Contains(p.change.Stamps.Increment, top)
}

// add adds an operator for a path to the plan. It returns false if it is unknown here when the operator
// changes a document.
func (p *planner) add(operator, path string, argument any) bool {
	if operator == "$setOnInsert" {
		return true // An upsert that inserts does not get here.
	}
	look, ok := looks[operator]
	if !ok || !look(p, path, argument) {
		return false
	}
	p.operators[operator] = p.operators[operator].With(path, argument)
	return true
}

// looks has, for each operator, the function that determines when it changes a document.
var looks = map[string]func(p *planner, path string, argument any) bool{
	"$set":      (*planner).planSet,
	"$unset":    (*planner).planUnset,
	"$inc":      (*planner).planInc,
	"$push":     (*planner).planPush,
	"$addToSet": (*planner).planAddToSet,
	"$pull":     (*planner).planPull,
}

func (p *planner) planSet(path string, value any) bool {
	p.set.Set(path, value)
	p.touched = append(p.touched, path)
	p.differs = append(p.differs, document.O(path, document.O("$ne", value)))
	return true
}

func (p *planner) planUnset(path string, _ any) bool {
	p.touched = append(p.touched, path)
	p.differs = append(p.differs, document.O(path, document.O("$exists", true)))
	return !strings.Contains(path, ".")
}

// lastWhole is the size from which adding a whole number may leave a double unchanged: beyond it not every
// whole number is a double.
const lastWhole = float64(1 << 53)

// planInc plans an addition of a whole number. Values that are not doubles change, and so do doubles small
// enough for every whole number to count; Infinity, NaN and 1e300 stay the same.
func (p *planner) planInc(path string, by any) bool {
	whole, ok := by.(int64)
	p.differs = append(p.differs,
		document.O(path, document.O("$not", document.O("$type", "double"))),
		document.O(path, document.O("$gt", -lastWhole, "$lt", lastWhole)))
	return ok && whole != 0
}

// planPush plans the addition of one item, or of several without further modifiers.
func (p *planner) planPush(_ string, argument any) bool {
	p.certain = true
	o, ok := argument.(document.Object)
	if !ok || !hasOperator(o) {
		return true
	}
	items, ok := o.Value("$each").(document.Array)
	return ok && o.Len() == 1 && items.Len() > 0 && !slices.ContainsFunc(items.Items(), func(item any) bool {
		object, ok := item.(document.Object)
		return ok && hasOperator(object)
	})
}

func (p *planner) planAddToSet(path string, item any) bool {
	p.differs = append(p.differs, document.O(path, document.O("$ne", item)))
	return isScalar(item)
}

func (p *planner) planPull(path string, item any) bool {
	p.differs = append(p.differs, document.O(path, item))
	return isScalar(item) && item != nil && !strings.Contains(path, ".")
}

// hasOperator reports whether an object has a field that begins with "$".
func hasOperator(o document.Object) bool {
	return slices.ContainsFunc(o.Keys(), func(key string) bool { return strings.HasPrefix(key, "$") })
}

func isScalar(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return false
	default:
		return true
	}
}

// isContradicted reports whether some condition of the filter, only about paths that the update sets or
// removes, is false for their new values: then each matching document changes.
func (p *planner) isContradicted(source document.Object) bool {
	if p.set.Err() != nil || len(p.touched) == 0 {
		return false
	}
	for key, operand := range source.All() {
		if parts, ok := operand.(document.Array); ok && key == "$and" {
			for _, part := range parts.All() {
				if inner, ok := part.(document.Object); ok && p.isContradicted(inner) {
					return true
				}
			}
			continue
		}
		clause := document.O(key, operand)
		if !p.isAboutTouched(clause) {
			continue
		}
		condition, err := query.CompileFilter(clause)
		if err == nil && condition.Near() == nil && !condition.Match(p.set) {
			return true
		}
	}
	return false
}

// isAboutTouched reports whether a filter names only paths that the update touches.
func (p *planner) isAboutTouched(source document.Object) bool {
	for key, operand := range source.All() {
		if !strings.HasPrefix(key, "$") {
			if !slices.Contains(p.touched, key) {
				return false
			}
			continue
		}
		parts, ok := operand.(document.Array)
		if !ok || key != "$or" && key != "$and" && key != "$nor" {
			return false
		}
		for _, part := range parts.All() {
			if inner, ok := part.(document.Object); !ok || !p.isAboutTouched(inner) {
				return false
			}
		}
	}
	return true
}

// update returns the operators with the stamps and a new revision. No path of the caller leads to a stamp.
func (p *planner) update() (bson.Raw, error) {
	start, b := bsoncore.AppendDocumentStart(make([]byte, 0, p.change.Update.Source().Size()+p.change.Stamps.Set.Size()+256))
	inner, b := bsoncore.AppendDocumentElementStart(b, "$set")
	b, err := appendFields(b, p.operators["$set"])
	if err != nil {
		return nil, err
	}
	if b, err = appendFields(b, p.change.Stamps.Set); err != nil {
		return nil, err
	}
	b = bsoncore.AppendObjectIDElement(b, revisionPath, bson.NewObjectID())
	b, _ = bsoncore.AppendDocumentEnd(b, inner) // It cannot fail: the document began above.
	if b, err = p.appendIncrements(b); err != nil {
		return nil, err
	}
	for _, operator := range []string{"$unset", "$push", "$addToSet", "$pull"} {
		if operand := p.operators[operator]; operand.Len() > 0 {
			if b, err = appendObject(b, operator, operand); err != nil {
				return nil, err
			}
		}
	}
	return ended(b, start)
}

// appendIncrements appends the increments, including stamps.
func (p *planner) appendIncrements(b []byte) ([]byte, error) {
	increments := p.operators["$inc"]
	if increments.Len()+len(p.change.Stamps.Increment) == 0 {
		return b, nil
	}
	inner, b := bsoncore.AppendDocumentElementStart(b, "$inc")
	b, err := appendFields(b, increments)
	if err != nil {
		return nil, err
	}
	for _, field := range p.change.Stamps.Increment {
		b = bsoncore.AppendInt32Element(b, field, 1)
	}
	return bsoncore.AppendDocumentEnd(b, inner)
}

// where returns the filter of a plan, with its additional condition.
func (p plan) where(filter *query.Filter) (bson.Raw, error) {
	source, err := queried(filter)
	if err != nil {
		return nil, err
	}
	for key := range p.condition.All() {
		if _, ok := source.Field(key); ok {
			return rawConditions(document.O("$and", document.A(source, p.condition)))
		}
	}
	return rawConditions(source, p.condition)
}
