package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// geoCondition compiles $geoWithin, $within, which is its old name, and
// $geoIntersects, each of which stands alone on a field. $near has its own places. Other
// operators are unknown.
func geoCondition(operator string, operand any, beside document.Object) ([]fieldCondition, error) {
	switch operator {
	case "$geoWithin", "$within", "$geoIntersects":
	case "$near", "$nearSphere", "$geoNear":
		return nil, boterr.Invalid("", "%s stands alone on a field, at the top of the filter or in a top $and", operator)
	default:
		return nil, boterr.Invalid("", "%s is no operator that can stand here, or is not supported%s", operator,
			perhaps(operator, fieldOperators))
	}
	if beside.Len() > 1 {
		return nil, boterr.Invalid("", "%s stands alone on a field; put other conditions on it into an $and", operator)
	}
	specifier, region, err := geoSpecifier(operand)
	if err != nil {
		return nil, err
	}
	var test candidateTest
	if operator == "$geoIntersects" {
		test, err = intersectsCondition(specifier, region)
	} else {
		test, err = withinCondition(specifier, region)
	}
	if err != nil {
		return nil, boterr.PrefixField(specifier, err)
	}
	return one(test), nil
}

// geoSpecifier returns the only field of a geo operator's operand.
func geoSpecifier(operand any) (specifier string, region any, err error) {
	o, ok := operand.(document.Object)
	if !ok {
		return "", nil, document.WrongType("object", operand)
	}
	for key, value := range o.All() {
		switch {
		case key == "$uniqueDocs": // Without effect since MongoDB 2.6.
		case specifier != "":
			return "", nil, boterr.Invalid(key, "there is the shape %s already, and one only can be given", specifier)
		default:
			specifier, region = key, value
		}
	}
	if specifier == "" {
		return "", nil, boterr.Invalid("", "a shape is missing, such as $geometry")
	}
	return specifier, region, nil
}

// withinCondition compiles the region of $geoWithin.
func withinCondition(specifier string, operand any) (candidateTest, error) {
	if !isPlace(operand) {
		return nil, boterr.Invalid("", "must be an array or object, got %s", document.Excerpt(operand))
	}
	parts, _ := members(operand)
	switch specifier {
	case "$box":
		return boxCondition(parts)
	case "$polygon":
		return planePolygonCondition(parts)
	case "$center":
		center, radius, err := readCircle(parts)
		return withinPlane{region: geometry.Circle{Center: center, Radius: radius}}, err
	case "$centerSphere":
		return capCondition(parts)
	case "$geometry":
		return withinShapeCondition(operand)
	default:
		return nil, unknownShape(specifier)
	}
}

func unknownShape(specifier string) error {
	return boterr.Invalid("", "%s is no shape that can stand here", specifier)
}

// boxCondition compiles $box: two opposite corners.
func boxCondition(corners []any) (candidateTest, error) {
	const two = 2
	if len(corners) < two {
		return nil, boterr.Invalid("", "must be two opposite corners, got %d", len(corners))
	}
	a, err := readPair(corners[0], twoOnly)
	if err != nil {
		return nil, boterr.PrefixField(boterr.Index(0), err)
	}
	b, err := readPair(corners[1], twoOnly)
	return withinPlane{region: geometry.NewBox(a, b)}, boterr.PrefixField(boterr.Index(1), err)
}

// planePolygonCondition compiles $polygon: at least three corners.
func planePolygonCondition(corners []any) (candidateTest, error) {
	const triangle = 3
	if len(corners) < triangle {
		return nil, boterr.Invalid("", "a polygon has at least 3 corners, got %d", len(corners))
	}
	pairs := make([]geometry.Pair, len(corners))
	for i, corner := range corners {
		var err error
		if pairs[i], err = readPair(corner, twoOnly); err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return withinPlane{region: geometry.NewPlanePolygon(pairs), work: 2 * len(pairs)}, nil
}

// readCircle reads a pair and a radius.
func readCircle(parts []any) (center geometry.Pair, radius float64, err error) {
	const two = 2
	if len(parts) != two {
		return center, 0, boterr.Invalid("", "must be a center and a radius, got %d elements", len(parts))
	}
	center, err = readPair(parts[0], twoOnly)
	if err != nil {
		return center, 0, boterr.PrefixField(boterr.Index(0), err)
	}
	radius, ok := document.FloatNumber(parts[1])
	if !ok || !(radius >= 0) { // NaN is no radius.
		return center, 0, boterr.Invalid(boterr.Index(1), "the radius must be a number from 0, got %s", document.Excerpt(parts[1]))
	}
	return center, radius, nil
}

// capCondition compiles $centerSphere: a pair on the globe and a radius in radians.
func capCondition(parts []any) (candidateTest, error) {
	center, radius, err := readCircle(parts)
	if err != nil {
		return nil, err
	}
	point, err := geometry.NewPoint(center)
	if err != nil {
		return nil, boterr.PrefixField(boterr.Index(0), err)
	}
	return newWithinSphere(geometry.NewCap(point, radius)), nil
}

// withinShapeCondition compiles the $geometry of $geoWithin, which has an inside.
func withinShapeCondition(operand any) (candidateTest, error) {
	at, err := queryPlace(operand)
	if err != nil {
		return nil, err
	}
	if at.shape == nil || len(at.shape.Polygons) == 0 {
		return nil, boterr.Invalid("", "must be a %s or %s: nothing lies within a point or line", geoPolygon, geoMultiPolygon)
	}
	at.shape.Prepare()
	return newWithinSphere(at.shape), nil
}

// intersectsCondition compiles the $geometry of $geoIntersects.
func intersectsCondition(specifier string, operand any) (candidateTest, error) {
	if specifier != "$geometry" {
		return nil, unknownShape(specifier)
	}
	at, err := queryPlace(operand)
	if err != nil {
		return nil, err
	}
	if at.shape != nil {
		return newIntersecting(at.shape), nil
	}
	point, err := geometry.NewPoint(at.pair)
	return newIntersecting(&geometry.Shape{Points: []geometry.Point{point}}), err
}
