package members

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// FindAndModifyMember implements member.Operations.
func (s *Service) FindAndModifyMember(
	ctx context.Context, p member.FindAndModifyParams,
) (member.FindAndModifyResult, error) {
	if err := checkFindAndModify(p); err != nil {
		return member.FindAndModifyResult{}, err
	}
	patch := record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.WithModifier == nil || *p.WithModifier,
		ArrayFilters: p.Option.ArrayFilters,
	}
	var err error
	if patch.SortBy, err = record.OneSort(p.SortBy, p.Option.Sort); err != nil {
		return member.FindAndModifyResult{}, boterr.PrefixField("option", err)
	}
	returnNew, err := returned(p.Option).ReturnsNew()
	if err != nil {
		return member.FindAndModifyResult{}, boterr.PrefixField("option", err)
	}
	if patch.Projection, err = projection(p.Option); err != nil {
		return member.FindAndModifyResult{}, boterr.PrefixField("option", err)
	}
	if err := checkPatch(patch); err != nil {
		return member.FindAndModifyResult{}, err
	}
	found, err := s.members.FindAndModify(ctx, patch, returnNew)
	if err != nil {
		return member.FindAndModifyResult{}, returned(p.Option).InOption(patchError(err), p.SortBy)
	}
	result := member.FindAndModifyResult{OK: 1}
	switch {
	case !found.Matched:
	case patch.Projection.Len() > 0: // Fields left out by the projection stay empty.
		result.Member = new(member.Member)
		err = document.Decode(found.Document, result.Member)
	default:
		result.Member, err = fromDocument(found.Document)
	}
	if err != nil {
		return member.FindAndModifyResult{}, err
	}
	return result, nil
}

func returned(o member.FindAndModifyOption) record.ReturnOptions {
	return record.ReturnOptions{
		New: o.New, ReturnDocument: o.ReturnDocument, ReturnOriginal: o.ReturnOriginal,
		Projection: o.Projection, Fields: o.Fields,
	}
}

// projection returns the projection of the options. It returns InvalidArgument if the projection would compute
// values.
func projection(o member.FindAndModifyOption) (document.Object, error) {
	shown, err := returned(o).Shown()
	if err != nil {
		return shown, err
	}
	return shown, boterr.PrefixField(returned(o).ShownBy(), checkShown(shown))
}

func checkShown(projection document.Object) error {
	for path, value := range projection.All() {
		switch value := value.(type) {
		case bool, int64, float64:
		case document.Object:
			if value.Len() == 1 && (value.Keys()[0] == "$slice" || value.Keys()[0] == "$elemMatch") {
				continue
			}
			if err := checkShown(value); err != nil {
				return boterr.PrefixField(path, err)
			}
		default:
			return boterr.Invalid(path, "must be 1 or 0, or select elements with $slice or $elemMatch; a member's fields cannot be computed")
		}
		if strings.HasPrefix(path, "$") {
			return boterr.Invalid(path, "is an expression; a member's fields cannot be computed")
		}
	}
	return nil
}

func checkFindAndModify(p member.FindAndModifyParams) error {
	if p.Filter.IsZero() {
		return boterr.Invalid("filter", "is missing; select members, or give {} for all")
	}
	if p.Option.Upsert {
		return boterr.New(boterr.Unsupported, "option.upsert", "members cannot be upserted; they are created when they first write")
	}
	return record.CheckOptions("option", p.Option.Unknown)
}

// PatchMembers implements member.Operations.
func (s *Service) PatchMembers(ctx context.Context, p member.PatchParams) (member.PatchResult, error) {
	return s.patch(ctx, &s.members, p)
}

// PatchByRun is PatchMembers for the run of a member, which may also change the SDK's internal fields.
func (s *Service) PatchByRun(ctx context.Context, p member.PatchParams) (member.PatchResult, error) {
	return s.patch(ctx, record.OfApp(s.env, runSchema, s.scope.App), p)
}

func (s *Service) patch(ctx context.Context, members *record.Collection, p member.PatchParams) (member.PatchResult, error) {
	patch := record.Patch{Filter: p.Filter, Patch: p.Patch, WithModifier: p.WithModifier, Multi: true}
	if err := checkPatch(patch); err != nil {
		return member.PatchResult{}, err
	}
	channelID, err := s.channelID(ctx, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return member.PatchResult{}, err
	}
	members = members.Where(record.FieldChannel, channelID)
	var first document.Object
	if p.MemberID == "" {
		first, err = patchAll(ctx, members, patch)
	} else {
		first, err = patchOne(ctx, members.Where(record.FieldID, p.MemberID), patch)
	}
	if err != nil || first.IsZero() {
		return member.PatchResult{}, patchError(err)
	}
	m, err := fromDocument(first)
	return member.PatchResult{Result: m}, err
}

// patchError explains an AlreadyExists error, which a patch only gets from the unique index of the external id.
func patchError(err error) error {
	if !errors.Is(err, boterr.AlreadyExists) {
		return err
	}
	return boterr.New(boterr.AlreadyExists, "patch", "another member of the channel has this externalId: give each member a different one")
}

func patchOne(ctx context.Context, members *record.Collection, patch record.Patch) (document.Object, error) {
	found, err := members.FindAndModify(ctx, patch, true)
	return found.Document, err
}

// patchAll changes all matching members and returns the first of them. It finds that member before
// the change, because the changed member may no longer match. If it finds none, it changes none: a
// member that begins to match later would be missing from the result.
func patchAll(ctx context.Context, members *record.Collection, patch record.Patch) (document.Object, error) {
	before, err := members.Find(ctx, record.Query{Filter: patch.Filter, Limit: 1})
	if err != nil {
		return document.Object{}, err
	}
	if len(before) == 0 {
		patch.Filter = document.O("$nor", document.A(document.O())) // This matches nothing, but the patch is still checked.
	}
	if _, err := members.Update(ctx, patch); err != nil || len(before) == 0 {
		return document.Object{}, err
	}
	id, _ := before[0].Field(record.FieldID)
	first, err := members.Get(context.WithoutCancel(ctx), id) // The change is already stored.
	if errors.Is(err, boterr.NotFound) {
		return before[0], nil
	}
	return first, err
}

// UpdateMember implements member.Operations.
func (s *Service) UpdateMember(ctx context.Context, p member.UpdateParams) (member.UpdateResult, error) {
	id, etag, err := idAndEtag(p.Member)
	if err == nil {
		err = checkFields(p.Member)
	}
	if err != nil {
		return member.UpdateResult{}, boterr.PrefixField("member", err)
	}
	patch := record.Patch{Patch: p.Member}
	if s.ChecksEtags && etag != "" {
		patch.Filter = document.O(record.FieldEtag, document.O("$eq", etag))
	}
	found, err := s.members.Where(record.FieldID, id).FindAndModify(ctx, patch, true)
	if err != nil {
		return member.UpdateResult{}, record.RenameField(patchError(err), "patch", "member")
	}
	if !found.Matched {
		return member.UpdateResult{}, s.notUpdatedError(ctx, id)
	}
	updated, err := fromDocument(found.Document)
	if err != nil {
		return member.UpdateResult{}, err
	}
	result := member.UpdateResult{DocsIDs: member.DocsIDs{Updated: []string{id}}, Docs: updated}
	if found.Modified {
		result.Modified = 1
	}
	return result, nil
}

func idAndEtag(given document.Object) (id, etag string, err error) {
	if given.IsZero() {
		return "", "", boterr.Missing("", "the _id of a member, and the fields to set")
	}
	var address struct {
		ID   string `json:"_id"`
		Etag string `json:"etag"`
	}
	if err := document.Decode(given, &address); err != nil {
		return "", "", err
	}
	if address.ID == "" {
		return "", "", record.MissingID(schema.Name)
	}
	return address.ID, address.Etag, nil
}

// notUpdatedError returns NotFound if the member does not exist, and otherwise Conflict.
func (s *Service) notUpdatedError(ctx context.Context, id string) error {
	if _, err := s.members.Get(ctx, id); err != nil {
		return boterr.PrefixField("member._id", err)
	}
	return boterr.New(boterr.Conflict, "member.etag", "the member was changed since it was read; read it again and repeat")
}

// CheckAndSaveMemberReferFrom implements member.Operations.
func (s *Service) CheckAndSaveMemberReferFrom(
	ctx context.Context, p member.CheckAndSaveReferFromParams,
) (*member.Member, error) {
	if _, err := ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	if p.ReferFrom == "" {
		return nil, boterr.Missing("referFrom", "the channel that refers the member")
	}
	saved, err := s.members.Where(record.FieldID, p.MemberID).FindAndModify(ctx, record.Patch{
		Filter: document.O(fieldReferFrom, document.O("$in", document.A(nil, ""))),
		Patch:  document.O(fieldReferFrom, p.ReferFrom),
	}, true)
	e, refused := boterr.AsError(err)
	switch {
	case refused && e.Code == boterr.InvalidArgument && strings.HasPrefix(e.Field, "patch."):
		return nil, boterr.New(boterr.FailedPrecondition, "", "meta of member %s is not an object: %w", p.MemberID, err)
	case err != nil:
		return nil, record.RenameField(err, "patch", "referFrom")
	case saved.Matched:
		return fromDocument(saved.Document)
	default:
		return s.GetMember(ctx, member.GetParams{MemberID: p.MemberID})
	}
}

// fieldTypes are the types of the fields that a patch may change. A patch with a value of another
// type is refused, because the changed member could not be decoded.
var fieldTypes = map[string]string{
	"botId": typeString, fieldExternalID: typeString, "firstName": typeString, "lastName": typeString,
	"gender": typeString, "platform": typeString, "email": typeString, "locale": typeString,
	"customLocale": typeString, "group": typeString, "admin": typeString, "profilePic": typeString,
	"botMeta": typeObject, "meta": typeObject, "profile": typeObject,
	"tags": typeArray,
}

// Names of types, as returned by document.TypeName.
const (
	typeString = "string"
	typeObject = "object"
	typeArray  = "array"
)

var arrayOperators = []string{"$push", "$pull", "$pullAll", "$addToSet", "$pop"}

// checkPatch refuses a patch that would change the type of a member's field. The collection reports
// all other faults of the patch.
func checkPatch(p record.Patch) error {
	if !p.WithModifier {
		return boterr.PrefixField("patch", checkFields(p.Patch))
	}
	for operator, operand := range p.Patch.All() {
		if !strings.HasPrefix(operator, "$") {
			return boterr.PrefixField("patch", checkFields(p.Patch))
		}
		paths, _ := operand.(document.Object)
		if err := checkOperator(operator, paths); err != nil {
			return boterr.PrefixField("patch", boterr.PrefixField(operator, err))
		}
	}
	return nil
}

func checkFields(fields document.Object) error {
	for path, value := range fields.All() {
		if err := checkField(path, value); err != nil {
			return boterr.PrefixField(path, err)
		}
	}
	return nil
}

// checkField checks the value for a path. A string may be null, which clears it.
func checkField(path string, value any) error {
	field, inside, isInside := strings.Cut(path, ".")
	expected, known := fieldTypes[field]
	switch {
	case !known, isInside && expected == typeObject, isInside && keepsArray(expected, inside):
		return nil
	case isInside && expected == typeArray:
		return boterr.Invalid("", "%s would become an object if a member does not have it; set the whole value, or use $push", field)
	case isInside:
		return boterr.Invalid("", "%s is a string, which has no fields", field)
	case value == nil && expected == typeString, document.TypeName(value) == expected:
		return nil
	default:
		return boterr.Invalid("", "must be of type %s, got %s", expected, document.JSONType(value))
	}
}

// keepsArray reports whether a path inside a field can change only elements of an existing array. An
// index, such as tags.0, would create an object if there is no array.
func keepsArray(of, inside string) bool { return of == typeArray && strings.HasPrefix(inside, "$") }

// checkOperator checks the fields that an update operator changes.
func checkOperator(operator string, paths document.Object) error {
	switch operator {
	case "$set", "$setOnInsert":
		return checkFields(paths)
	case "$unset":
		return nil
	}
	for path, operand := range paths.All() {
		changed := path
		if operator == "$rename" {
			changed, _ = operand.(string)
		}
		if !leavesType(operator, changed) {
			return boterr.Invalid(path, "%s could change the type of %s; use $set", operator, changed)
		}
	}
	return nil
}

func leavesType(operator, path string) bool {
	field, inside, isInside := strings.Cut(path, ".")
	switch fieldTypes[field] {
	case typeString:
		return false
	case typeObject:
		return isInside
	case typeArray:
		return keepsArray(typeArray, inside) || !isInside && slices.Contains(arrayOperators, operator)
	default:
		return true
	}
}
