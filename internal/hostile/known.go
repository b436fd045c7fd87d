package hostile

import "github.com/botctx/go-sdk/document"

// class is calls that have one costly part, through each operation that takes it.
type class []Call

// known are the calls from which a search begins.
func known() []class {
	var all []class
	for _, filter := range filters() {
		all = append(all, filtering(filter))
	}
	for _, patch := range patches() {
		all = append(all, patching(patch))
	}
	for _, filters := range arrayFilters() {
		all = append(all, selecting(filters))
	}
	for _, projection := range projections() {
		all = append(all, projecting(projection))
	}
	for _, order := range orders() {
		all = append(all, sorting(order))
	}
	for _, meta := range metas() {
		all = append(all, comparing(meta))
	}
	for _, pattern := range schedules() {
		all = append(all, class{{"newAgenda", o(
			"memberId", "member", "nodeCompositeId", "n", "pattern", pattern, "runUntil", 9_000_000_000_000)}})
	}
	for _, key := range []string{"l", "n", "o", "o.b", "s", "d.a.a", "_id"} {
		all = append(all, class{{"fetchDistinctDataFromDataSource", o("dataSourceId", "things", "key", key)}})
	}
	return all
}

// of is the parameters of an operation on the data source.
func of(parameters ...any) document.Object {
	return o(append([]any{"dataSourceId", "things"}, parameters...)...)
}

// filtering are the calls that look for something.
func filtering(filter document.Object) class {
	return class{
		{"fetchDataFromDataSource", of("filter", filter)},
		{"countDataSource", of("filter", filter)},
		{"fetchDistinctDataFromDataSource", of("key", "o.b", "filter", filter)},
		{"fetchGeoNearFromDataSource", of("data", o("near", a(0, 0), "key", "at", "query", filter))},
		{"patchDataToDataSource", of("filter", filter, "patch", o("x", 1), "multi", true)},
		{"findAndModifyDataFromDataSource", of("filter", filter, "patch", o("$set", o("x", 1)))},
		{"findAndModifyMember", o("filter", filter, "patch", o("$set", o("meta.x", 1)))},
		{"patchMembers", o("filter", filter, "patch", o("meta.x", 1))},
	}
}

// patching are the calls that change by a patch.
func patching(patch document.Object) class {
	return class{
		{"patchDataToDataSource", of("multi", true, "withModifier", true, "patch", patch)},
		{"findAndModifyDataFromDataSource", of("filter", o("_id", "wide0"), "patch", patch)},
		{"findAndModifyMember", o("filter", o(), "patch", patch)},
		{"patchMembers", o("withModifier", true, "patch", patch)},
	}
}

// selecting are the calls that change elements which filters select.
func selecting(filters document.Array) class {
	patch, options := o("$inc", o("o.$[e].a", 1)), o("arrayFilters", filters)
	return class{
		{"patchDataToDataSource", of("multi", true, "withModifier", true, "patch", patch, "options", options)},
		{"findAndModifyDataFromDataSource", of("filter", o("_id", "wide0"), "patch", patch, "option", options)},
		{"findAndModifyMember", o("filter", o("_id", "member"), "patch", o("$inc", o("meta.o.$[e].a", 1)), "option", options)},
	}
}

// projecting are the calls that return a part of what they found.
func projecting(projection document.Object) class {
	option := o("projection", projection)
	return class{
		{"findAndModifyDataFromDataSource", of("filter", o("_id", "wide0"), "patch", o("$set", o("x", 1)), "option", option)},
		{"findAndModifyMember", o("filter", o("_id", "member"), "patch", o("$set", o("meta.x", 1)), "option", option)},
	}
}

// sorting are the calls that put something in order, or take the first of it.
func sorting(by document.Object) class {
	return class{
		{"fetchDataFromDataSource", of("sortBy", by)},
		{"findAndModifyDataFromDataSource", of("filter", o(), "sortBy", by, "patch", o("$set", o("x", 1)))},
		{"patchDataToDataSource", of("patch", o("x", 1), "options", o("sort", by))},
		{"findAndModifyMember", o("filter", o(), "sortBy", by, "patch", o("$set", o("meta.x", 1)))},
		{"getAssignmentsByMemberId", o("memberId", "member", "sortBy", by)},
	}
}

// comparing are the calls that take data as they are.
func comparing(meta document.Object) class {
	return class{
		{"getAssignmentsByMeta", o("meta", meta)},
		{"updateAssignmentMeta", o("assignmentId", "assignment0", "meta", meta)},
	}
}
