package mongo

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// plan is a change that the server can make in one atomic step, including stamps. Only documents that really
// change may get new stamps. Therefore a plan exists only if every document that the server touches really
// changes. That is certain if an operator always changes a document, or if the filter does not match the
// result. If the filter fixes the _id, the plan can also add a condition.
type plan struct {
	// update is the caller's update with the stamps, encoded for the server.
	update bson.Raw
	// condition is added to the filter. It is the zero Object if a change is certain. A document that does not
	// match the condition may still change.
	condition document.Object
	// contradicts is true if no changed document matches the filter, so a repeated command cannot change a
	// document twice.
	contradicts bool
}

type planner struct {
	filter *query.Filter
	change query.Change
	// operators has the operators of the server's update and their operands.
	operators map[string]document.Object
	// set has the new values of paths. Removed paths are not in set, but in touched.
	set     document.Object
	touched []string
	// differs has conditions. If a document matches one of them, the update changes it.
	differs []any
	certain bool
}

// planned returns the plan for a change. It returns false if there is none.
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

func anyOf(conditions []any) document.Object {
	if one, ok := conditions[0].(document.Object); ok && len(conditions) == 1 {
		return one
	}
	return document.O("$or", document.A(conditions...))
}

// isPlain reports whether a path contains no "$" and leads to a field that an update may change. For fixed and
// stamped fields the document must be read.
func (p *planner) isPlain(path string) bool {
	top, _, _ := strings.Cut(path, ".")
	return top != document.IDField && !strings.Contains(path, "$") && !slices.Contains(p.change.Fixed, top) &&
		!p.change.Stamps.Set.Has(top) && !slices.Contains(p.change.Stamps.Increment, top)
}

// add adds an operator for one path to the plan. It returns false if the plan cannot determine when the
// operator changes a document.
func (p *planner) add(operator, path string, argument any) bool {
	if operator == "$setOnInsert" {
		return true // It only applies to upserts that insert, which use no plan.
	}
	look, ok := looks[operator]
	if !ok || !look(p, path, argument) {
		return false
	}
	p.operators[operator] = p.operators[operator].With(path, argument)
	return true
}

// looks maps operators to functions. Each function adds the conditions under which its operator changes a
// document.
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

// lastWhole is the size beyond which doubles no longer represent every integer. Adding an integer may then
// leave a double unchanged.
const lastWhole = float64(1 << 53)

// planInc plans the addition of an integer. It always changes integers, and doubles below lastWhole. It may not
// change Infinity, NaN or 1e300.
func (p *planner) planInc(path string, by any) bool {
	whole, ok := by.(int64)
	p.differs = append(p.differs,
		document.O(path, document.O("$not", document.O("$type", "double"))),
		document.O(path, document.O("$gt", -lastWhole, "$lt", lastWhole)))
	return ok && whole != 0
}

// planPush plans $push of one item, or of several items with $each and no other modifier.
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

// isContradicted reports whether a part of the filter is about paths that the update touches, and is false for
// their new values. Then no changed document matches, so every matching document changes.
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

// isAboutTouched reports whether a filter only uses paths that the update sets or removes.
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

// update encodes the operators with the stamps and a new revision. The caller's paths never include stamps.
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
	b, _ = bsoncore.AppendDocumentEnd(b, inner) // No error is possible: the document was started above.
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

// where returns the filter with the plan's condition.
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
