package main

// kind is what a task does.
type kind int

// The kinds of tasks.
const (
	insertAll kind = iota // in one call
	insertEach
	getByID
	findAll
	visitByID   // findAndModify by id
	visitSorted // findAndModify by filter and sort
	countAll
	distinct
	findNear
	takeSnapshot
)

// task is one row of the table: work that every engine does.
type task struct {
	// work and variant name the task's benchmark, Benchmark<work>/<variant>.
	work, variant string
	// title is what the table calls it.
	title     string
	kind      kind
	query     question
	index     indexName
	documents int
	// stride is how far apart the places lie that two rounds ask for by their ids.
	stride int
	goal   goal
}

// apart is a stride with which a processor's cache helps little; all places have
// their turn.
const apart = 7_919

// goal is what a task should reach; the zero goal asks for nothing.
type goal struct {
	// overLungo is how many times faster than lungo, overTrees than go-memdb, ofTyped how many times
	// slower than the code written by hand at most.
	overLungo, overTrees, ofTyped float64
}

// The goals.
var (
	ofInserts   = goal{overTrees: 1}
	ofSnapshots = goal{overTrees: 1}
	ofIndexes   = goal{overLungo: 100, overTrees: 1, ofTyped: 4}
	ofScans     = goal{overLungo: 10, overTrees: 1, ofTyped: 8}
	ofChanges   = goal{overLungo: 100, overTrees: 4, ofTyped: 4}
)

// position returns the place that a round asks for by its id.
func (t task) position(round int) int { return round * t.stride % t.documents }

// ids returns for how many places' ids the task asks.
func (t task) ids() int {
	if t.kind == getByID || t.kind == visitByID || t.kind == takeSnapshot {
		return t.documents
	}
	return 0
}

// The numbers of documents that tasks have.
const (
	few    = 10_000
	plenty = 10 * few
)

// tasks are the rows of the table.
var tasks = []task{
	{work: "Insert", variant: "at once", title: "insert 10,000 in one call", kind: insertAll, documents: few, goal: ofInserts},
	{work: "Insert", variant: "one by one", title: "insert 10,000 one by one", kind: insertEach, documents: few, goal: ofInserts},
	{
		work: "ByID", variant: "in order", title: "get by id, in the order of insertion", kind: getByID,
		documents: few, stride: 1, goal: ofIndexes,
	},
	{
		work: "ByID", variant: "apart", title: "get by id, far apart", kind: getByID,
		documents: few, stride: apart, goal: ofIndexes,
	},
	{
		work: "Index", variant: "one", title: "index, equality, finds 1", kind: findAll,
		query: nameIs, index: onName, documents: few, goal: ofIndexes,
	},
	{
		work: "Index", variant: "many", title: "index, equality, finds 476", kind: findAll,
		query: areaIs, index: onArea, documents: few, goal: ofIndexes,
	},
	{
		work: "Index", variant: "range", title: "index, range, finds 471", kind: findAll,
		query: priceBetween, index: onPrice, documents: few, goal: ofIndexes,
	},
	{
		work: "Index", variant: "one of 100000", title: "index, equality, finds 1 of 100,000", kind: findAll,
		query: nameIs, index: onName, documents: plenty, goal: ofIndexes,
	},
	{
		work: "Index", variant: "range of 100000", title: "index, range, finds 4,710 of 100,000", kind: findAll,
		query: priceBetween, index: onPrice, documents: plenty, goal: ofIndexes,
	},
	{
		work: "Scan", variant: "one", title: "scan, equality, finds 1", kind: findAll,
		query: nameIs, documents: few, goal: ofScans,
	},
	{
		work: "Scan", variant: "many", title: "scan, equality, finds 476", kind: findAll,
		query: areaIs, documents: few, goal: ofScans,
	},
	{
		work: "Scan", variant: "range", title: "scan, range, finds 471", kind: findAll,
		query: priceBetween, documents: few, goal: ofScans,
	},
	{
		work: "Scan", variant: "array", title: "scan, element of an array, finds 527", kind: findAll,
		query: tagIs, documents: few, goal: ofScans,
	},
	{
		work: "Scan", variant: "two", title: "scan, two conditions, finds 118", kind: findAll,
		query: areaAndPrice, documents: few, goal: ofScans,
	},
	{
		work: "Scan", variant: "many of 100000", title: "scan, equality, finds 4,762 of 100,000", kind: findAll,
		query: areaIs, documents: plenty, goal: ofScans,
	},
	{
		work: "Scan", variant: "range of 100000", title: "scan, range, finds 4,710 of 100,000", kind: findAll,
		query: priceBetween, documents: plenty, goal: ofScans,
	},
	{
		work: "FindAndModify", variant: "by id", title: "findAndModify by id", kind: visitByID,
		documents: few, stride: 1, goal: ofChanges,
	},
	{
		work: "FindAndModify", variant: "apart", title: "findAndModify by id, far apart", kind: visitByID,
		documents: few, stride: apart, goal: ofChanges,
	},
	{
		work: "FindAndModify", variant: "sorted", title: "findAndModify by filter and sort", kind: visitSorted,
		query: areaIs, documents: few, goal: ofScans,
	},
	{
		work: "FindAndModify", variant: "sorted on index", title: "findAndModify by filter and sort, index", kind: visitSorted,
		query: areaIs, index: onAreaPrice, documents: few, goal: ofChanges,
	},
	{
		work: "Count", variant: "scan", title: "count by filter", kind: countAll,
		query: areaIs, documents: few, goal: ofScans,
	},
	{
		work: "Count", variant: "index", title: "count by filter, index", kind: countAll,
		query: areaIs, index: onArea, documents: few, goal: ofIndexes,
	},
	{work: "Distinct", variant: "10000", title: "distinct, 21 values", kind: distinct, documents: few, goal: ofScans},
	{work: "Near", variant: "scan", title: "10 nearest", kind: findNear, documents: few},
	{work: "Near", variant: "index", title: "10 nearest, index", kind: findNear, index: onLocation, documents: few},
	{
		work: "Snapshot", variant: "10000", title: "a copy of all that can be read and written", kind: takeSnapshot,
		documents: few, stride: 1, goal: ofSnapshots,
	},
}
