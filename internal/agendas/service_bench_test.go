package agendas_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

// everybody are members of every id.
type everybody struct{}

func (everybody) GetMember(_ context.Context, p member.GetMemberParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "c1"}, nil
}

// newServiceOfEverybody returns the agendas of an app, of which the member "m" has a
// number, each with its own tag.
func newServiceOfEverybody(b *testing.B, count int) *agendas.Service {
	b.Helper()
	store := memstore.New()
	require.NoError(b, agendas.EnsureIndexes(b.Context(), store))
	s := agendas.New(record.Env{Store: store, Compiler: &query.Compiler{}}, record.Scope{App: "app"},
		agendas.Ports{Members: everybody{}})
	for i := range count {
		_, err := s.NewAgenda(b.Context(), agenda.NewAgendaParams{
			MemberID: "m", NodeCompositeID: "n", NextRunAt: 1, Tag: strconv.Itoa(i),
		})
		require.NoError(b, err)
	}
	return s
}

func BenchmarkNewAgenda(b *testing.B) {
	s := newServiceOfEverybody(b, 0)
	i := 0
	for b.Loop() {
		i++
		_, err := s.NewAgenda(b.Context(), agenda.NewAgendaParams{
			MemberID: "m" + strconv.Itoa(i), NodeCompositeID: "n", NextRunAt: 1, Tag: "t",
		})
		require.NoError(b, err)
	}
}

func BenchmarkReplaceBesideOthers(b *testing.B) {
	for _, others := range []int{0, 1000} {
		b.Run(strconv.Itoa(others), func(b *testing.B) {
			s := newServiceOfEverybody(b, others)
			for b.Loop() {
				_, err := s.NewAgenda(b.Context(), agenda.NewAgendaParams{
					MemberID: "m", NodeCompositeID: "n", NextRunAt: 1, Tag: "t", Replace: true,
				})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkUpdateBesideOthers(b *testing.B) {
	for _, others := range []int{1, 1000} {
		b.Run(strconv.Itoa(others), func(b *testing.B) {
			s := newServiceOfEverybody(b, others)
			next := document.Timestamp(1)
			for b.Loop() {
				next++
				updated, err := s.UpdateAgenda(b.Context(), agenda.UpdateAgendaParams{MemberID: "m", NextRunAt: next, Tag: "0"})
				require.NoError(b, err)
				require.EqualValues(b, 1, updated.Modified)
			}
		})
	}
}
