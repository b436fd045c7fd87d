package query

import (
	"cmp"
	"slices"
)

// Where several conditions must be met and each matches an element of an array, the element of the
// last one is the position of "$". The server checks conditions in an order of its own, by their
// operators and then by their paths: {$gt: 1, $lt: 5} over [1, 2, 3] leaves the position of $gt,
// which is that of 2, in whichever order the two stand.

// conditionRank is the place of an operator in that order.
type conditionRank int

const (
	rankElemMatchQuery conditionRank = iota
	rankElemMatchValue
	rankSize
	rankEqual
	rankLessOrEqual
	rankLess
	rankGreater
	rankGreaterOrEqual
	rankPattern
	rankRemainder
	rankExists
	rankList
	rankBits
	rankType
	rankOther // Geo conditions, and all that give no position.
)

// rankedCondition is a condition with its place in the order.
type rankedCondition struct {
	matcher matcher
	rank    conditionRank
	path    string
}

// inOrderOfPositions returns a matcher with the conditions that must all be met in the
// order of the server.
func inOrderOfPositions(root matcher) matcher {
	all, ok := root.(allOf)
	if !ok {
		return root
	}
	ranked := appendRanked(nil, all)
	slices.SortStableFunc(ranked, func(a, b rankedCondition) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.path, b.path))
	})
	ordered := make(allOf, len(ranked))
	for i := range ranked {
		ordered[i] = ranked[i].matcher
	}
	return ordered
}

// appendRanked appends the conditions of a conjunction and of those in it.
func appendRanked(ranked []rankedCondition, all allOf) []rankedCondition {
	for _, m := range all {
		switch m := m.(type) {
		case allOf:
			ranked = appendRanked(ranked, m)
		case *fieldsEqual:
			ranked = appendRanked(ranked, m.asPaths())
		case *pathMatcher:
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankOf(m.test), path: m.path.text})
		case *everyValueMatcher: // It stands between the first value of $all and the last.
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankEqual, path: m.path.text})
		case *elementMatcher:
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankOf(m.finder), path: m.path.text})
		default:
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankOther})
		}
	}
	return ranked
}

// rankOf returns the place of a condition. A list of one value is an equality.
func rankOf(test candidateTest) conditionRank {
	switch test := test.(type) {
	case elementsOf:
		return rankElemMatchQuery
	case valuesOf:
		return rankElemMatchValue
	case ofLength:
		return rankSize
	case equalTo, equalToString:
		return rankEqual
	case *ordered:
		return test.rank()
	case likePattern:
		return rankPattern
	case remainder:
		return rankRemainder
	case exists:
		return rankExists
	case *oneOf:
		return rankOfList(len(test.scalars) + len(test.others))
	case oneOfStrings:
		return rankOfList(len(test))
	case longList, some:
		return rankList
	case *bitsTest:
		return rankBits
	case ofType:
		return rankType
	default:
		return rankOther
	}
}

func rankOfList(length int) conditionRank {
	if length == 1 {
		return rankEqual
	}
	return rankList
}

// rank returns the place of $lte, $lt, $gt and $gte.
func (c *ordered) rank() conditionRank {
	switch {
	case c.less && c.equal:
		return rankLessOrEqual
	case c.less:
		return rankLess
	case c.equal:
		return rankGreaterOrEqual
	default:
		return rankGreater
	}
}
