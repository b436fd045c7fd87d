package pcre

import "unicode/utf8"

func (l literal) width() (least, most int) {
	n := utf8.RuneCountInString(string(l))
	return n, n
}

func (s sequence) width() (least, most int) {
	for _, part := range s {
		low, high := part.width()
		least += low
		most = addWidths(most, high)
	}
	return least, most
}

func addWidths(a, b int) int {
	if a == unbounded || b == unbounded {
		return unbounded
	}
	return a + b
}

func (a alternatives) width() (least, most int) {
	least, most = a[0].width()
	for _, one := range a[1:] {
		low, high := one.width()
		least = min(least, low)
		if most == unbounded || high == unbounded {
			most = unbounded
		} else {
			most = max(most, high)
		}
	}
	return least, most
}

func (character) width() (least, most int) { return 1, 1 }

func (r repeat) width() (least, most int) {
	low, high := r.body.width()
	most = unbounded
	if r.most == 0 || high == 0 {
		most = 0
	} else if r.most != unbounded && high != unbounded {
		most = saturated(high, r.most)
	}
	return saturated(low, r.least), most
}

// saturated multiplies, up to a width that no text has.
func saturated(a, b int) int {
	const widest = 1 << 30
	return min(a*b, widest)
}

func (g capture) width() (least, most int)       { return g.body.width() }
func (a atomic) width() (least, most int)        { return a.body.width() }
func (look) width() (least, most int)            { return 0, 0 }
func (reference) width() (least, most int)       { return 0, unbounded }
func (call) width() (least, most int)            { return 0, unbounded }
func (groupTest) width() (least, most int)       { return 0, 0 }
func (callTest) width() (least, most int)        { return 0, 0 }
func (never) width() (least, most int)           { return 0, 0 }
func (accept) width() (least, most int)          { return 0, 0 }
func (keep) width() (least, most int)            { return 0, 0 }
func (verb) width() (least, most int)            { return 0, 0 }
func (assertion) width() (least, most int)       { return 0, 0 }
func (one conditional) width() (least, most int) { return alternatives{one.yes, one.no}.width() }
