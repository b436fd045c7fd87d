package query

import (
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// isNear reports whether an operator orders by distance. $geoNear is an old name.
func isNear(operator string) bool {
	switch operator {
	case "$near", "$nearSphere", "$geoNear":
		return true
	default:
		return false
	}
}

// nearSlot takes the $near of a filter. Conditions that are compiled without one
// cannot have a $near.
type nearSlot struct{ near *GeoNear }

// withoutNear returns the compiler for what stands where no $near can.
func (c filterCompiler) withoutNear() filterCompiler {
	inner := c
	inner.slot = nil
	return inner
}

// nearOperators returns what stands beside a field's name where that is a $near: its
// operators, which begin with it.
func nearOperators(operand any) (document.Object, bool) {
	operators, ok := operand.(document.Object)
	if !ok || operators.Len() == 0 || !isNear(operators.NameAt(0)) {
		return document.Object{}, false
	}
	return operators, isPlace(operators.At(0))
}

// near compiles a $near on a field.
func (c filterCompiler) near(path string, operators document.Object) (matcher, error) {
	operator := operators.NameAt(0)
	if c.slot == nil {
		return nil, boterr.Invalid(operator, "%s can stand only at the top of the filter or in a top $and", operator)
	}
	if c.slot.near != nil {
		return nil, boterr.Invalid(operator, "the filter has a search for what is near already, on %q", c.slot.near.key.text)
	}
	near := &GeoNear{key: compilePath(path), multiplier: 1, most: math.Inf(1)}
	set := near.setLegacyNear
	if isWrapped(operators.At(0)) {
		set = near.setWrappedNear
	}
	if err := set(operators); err != nil {
		return nil, err
	}
	c.slot.near = near
	return nearMatcher{near}, nil
}

// isWrapped reports whether the operand of a $near has its point in $geometry.
func isWrapped(operand any) bool {
	o, ok := operand.(document.Object)
	return ok && (o.Len() == 0 || isOperatorObject(o))
}

// setWrappedNear reads {$near: {$geometry: point, $maxDistance: metres}}.
func (g *GeoNear) setWrappedNear(operators document.Object) error {
	if operators.Len() > 1 {
		return boterr.Invalid(operators.NameAt(1), "cannot stand beside a search with $geometry, but within it")
	}
	found := false
	operator := operators.NameAt(0)
	for key, value := range operators.At(0).(document.Object).All() {
		var err error
		switch key {
		case "$geometry":
			found = true
			err = g.setGeometry(value)
		case "$minDistance":
			g.least, err = distanceOperand(value, finiteOnly)
		case "$maxDistance":
			g.most, err = distanceOperand(value, finiteOnly)
		default:
			err = boterr.Invalid("", "is no option of a search for what is near")
		}
		if err != nil {
			return boterr.PrefixField(operator, boterr.PrefixField(key, err))
		}
	}
	if !found {
		return boterr.Invalid(operator+".$geometry", "the point to search around is missing")
	}
	return nil
}

// setGeometry sets a GeoJSON point.
func (g *GeoNear) setGeometry(value any) error {
	at, err := queryPoint(value)
	if err != nil {
		return err
	}
	if at.legacy {
		return boterr.Invalid("", "must be a GeoJSON point, got %s", document.Excerpt(value))
	}
	return g.setPoint(at)
}

// setLegacyNear reads {$near: [x, y], $maxDistance: distance}, where the point may be GeoJSON as
// well.
func (g *GeoNear) setLegacyNear(operators document.Object) error {
	operator := operators.NameAt(0)
	for key, value := range operators.All() {
		var err error
		switch key {
		case operator:
			g.spherical = key == "$nearSphere"
			err = g.setNear(value)
		case "$minDistance":
			g.least, err = distanceOperand(value, orInfinite)
		case "$maxDistance":
			g.most, err = distanceOperand(value, orInfinite)
		case "$uniqueDocs": // Without effect since MongoDB 2.6.
		default:
			err = boterr.Invalid("", "cannot stand beside a search for what is near")
		}
		if err != nil {
			return boterr.PrefixField(key, err)
		}
	}
	return nil
}

// distanceRange says whether a distance may be infinite.
type distanceRange bool

const (
	finiteOnly distanceRange = false
	orInfinite distanceRange = true
)

// distanceOperand reads a distance, which is not negative.
func distanceOperand(value any, allowed distanceRange) (float64, error) {
	distance, ok := document.FloatNumber(value)
	if !ok || !(distance >= 0) || allowed == finiteOnly && math.IsInf(distance, 1) { // NaN is no distance.
		return 0, boterr.Invalid("", "must be a number from 0, got %s", document.Excerpt(value))
	}
	return distance, nil
}

// nearMatcher is met by documents within the distances of a search.
type nearMatcher struct{ near *GeoNear }

func (m nearMatcher) match(root any, _ *Evaluation) bool {
	o, _ := root.(document.Object)
	_, ok := m.near.nearest(o)
	return ok
}

// Near returns the search of the filter's $near or $nearSphere, nil where it has
// none. The filter matches what is within its distances, and a store returns what
// matches nearest first unless a sort says otherwise.
func (f *Filter) Near() *GeoNear {
	if f == nil || f.rare == nil {
		return nil
	}
	return f.rare.near
}
