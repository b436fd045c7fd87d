package botctxtest_test

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// optioned is an operation with the options of a collection.
type optioned struct {
	// name is that of the operation in the table, rules how the names of its rules begin, and
	// parameter the one that holds the options.
	name, rules, parameter string
	op                     botctx.Op
	excuse                 any
}

// returning are the operations whose options say what comes back.
var returning = []optioned{
	{"findAndModifyMember", "FindAndModifyMember", "option", botctx.OpFindAndModifyMember, member.FindAndModifyMemberResult{OK: 1}},
	{
		"findAndModifyData", "FindAndModifyDataFromDataSource", "option", botctx.OpFindAndModifyDataFromDataSource,
		datasource.FindAndModifyDataFromDataSourceResult{OK: 1},
	},
}

// patching is the operation whose options do not.
var patching = optioned{"patchData", "PatchDataToDataSource", "options", botctx.OpPatchDataToDataSource, datasource.PatchDataToDataSourceResult{}}

// brokenOptions are the defects of the options of operations.
func brokenOptions() map[string]breakage {
	broken := map[string]breakage{}
	for _, o := range append(returning, patching) {
		broken[o.name+" refuses the options of drivers"] = breakage{
			breaking: o.refusing("maxTimeMS", "writeConcern", "comment", "hint"),
			breaks:   []string{o.rules + "TakesOptionsOfDrivers"},
		}
		broken[o.name+" ignores unknown options"] = breakage{
			breaking: o.without("nearly", "collation", "remove"),
			breaks:   []string{o.rules + "RefusesOptions", o.rules + "RefusesBadInput"},
		}
		broken[o.name+" excuses options"] = breakage{
			breaking: o.excusing(),
			breaks:   []string{o.rules + "RefusesOptions", o.rules + "RefusesBadInput"},
			others:   true,
		}
	}
	for _, o := range returning {
		for _, spelling := range []string{"returnDocument", "returnOriginal"} {
			broken[o.name+" ignores "+spelling] = breakage{
				breaking: o.without(spelling), breaks: []string{o.rules + "ReturnsByAnySpelling", o.rules + "RefusesOptions"},
			}
		}
		for _, spelling := range []string{"projection", "fields"} {
			broken[o.name+" ignores "+spelling] = breakage{
				breaking: o.without(spelling), breaks: []string{o.rules + "ShowsTheProjection", o.rules + "RefusesOptions"},
			}
		}
	}
	for _, o := range returning {
		broken[o.name+" ignores sort"] = breakage{
			breaking: o.without("sort"), breaks: []string{o.rules + "TakesTheFirst", o.rules + "RefusesOptions"},
		}
	}
	broken["patchData ignores multi as an option"] = breakage{
		breaking: patching.without("multi"), breaks: []string{"PatchDataToDataSourceChangesOneOrAll", "PatchDataToDataSourceRefusesBadInput"},
	}
	return broken
}

// without leaves options out.
func (o optioned) without(names ...string) func() botctx.Interceptor {
	return o.before(func(options document.Object) (document.Object, error) {
		for _, name := range names {
			options = options.Without(name)
		}
		return options, nil
	})
}

// refusing refuses options.
func (o optioned) refusing(names ...string) func() botctx.Interceptor {
	return o.before(func(options document.Object) (document.Object, error) {
		for _, name := range names {
			if options.Has(name) {
				return options, boterr.Invalid(o.parameter+"."+name, "is refused")
			}
		}
		return options, nil
	})
}

// excusing answers calls with bad options as if all were well.
func (o optioned) excusing() func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			result, err := next(ctx)
			failure, isError := boterr.AsError(err)
			if call.Op == o.op && isError && strings.HasPrefix(failure.Field, "option") {
				return o.excuse, nil
			}
			return result, err
		}
	}
}

// before alters the options of a call.
func (o optioned) before(alter func(document.Object) (document.Object, error)) func() botctx.Interceptor {
	return func() botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			var err error
			if call.Op == o.op {
				switch p := call.Params.(type) {
				case member.FindAndModifyMemberParams:
					err = alterIn(&p.Option, alter)
					call.Params = p
				case findParams:
					err = alterIn(&p.Option, alter)
					call.Params = p
				case patchParams:
					err = alterIn(&p.Options, alter)
					call.Params = p
				}
			}
			if err != nil {
				return nil, err
			}
			return next(ctx)
		}
	}
}

// alterIn alters the options that a struct holds. Those that are no values stay.
func alterIn[O any](options *O, alter func(document.Object) (document.Object, error)) error {
	held, err := document.Encode(*options)
	if err != nil {
		return nil //nolint:nilerr // The operation refuses them.
	}
	altered, err := alter(held)
	if err != nil {
		return err
	}
	*options = *new(O)
	return document.Decode(altered, options)
}
