package fakes

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
)

// doubtFields says of a call that found nothing that its filter names a field which no entry has, and
// which is like one that they have. It is "" where that is not so.
func (p *Platform) doubtFields(ctx context.Context, of dataSource, made Call) string {
	if p.dataSources.isOfHost(of.app) {
		return ""
	}
	has := p.fieldsOf(ctx, of)
	for field := range filterOf(made).All() {
		field, _, _ = strings.Cut(field, ".")
		if near := nearest.To(field, has); near != "" && near != field {
			return fmt.Sprintf(" (no entry has the field %q, perhaps %q is meant)", field, near)
		}
	}
	return ""
}

// mostEntries is how many entries a data source may have whose fields are looked at.
const mostEntries = 1000

// fieldsOf returns the fields that the entries of a data source have.
func (p *Platform) fieldsOf(ctx context.Context, of dataSource) []string {
	entries := datasources.New(p.Runtime().Env(), record.Scope{App: of.app})
	count, err := entries.CountDataSource(ctx, datasource.CountDataSourceParams{DataSourceID: of.name})
	if err != nil || count > mostEntries {
		return nil
	}
	found, err := entries.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: of.name})
	if err != nil {
		return nil
	}
	var fields []string
	for _, entry := range found.Entries {
		for field := range entry.All() {
			fields = append(fields, field)
		}
	}
	return fields
}

// filterOf returns the filter of a call, empty where it has none.
func filterOf(made Call) document.Object {
	params, err := document.Encode(made.Params)
	if err != nil {
		return document.Object{}
	}
	return document.Get(params, "filter", document.Object{})
}
