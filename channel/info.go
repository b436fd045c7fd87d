package channel

import (
	"reflect"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// Info is what a channel's platform needs to know, credentials included: one of
// AlphaInfo, BravoInfo, CharlieInfo, DeltaInfo and EchoInfo, by the channel's type,
// and OtherInfo for every other type. Reading a channel gives values, not pointers:
//
//	if info, ok := c.Info.(channel.AlphaInfo); ok { ... info.AccessToken.Reveal() ... }
type Info interface {
	// Type returns the type of the channels that have such an info, "" for OtherInfo.
	Type() Type
	// further returns the fields that the type does not know.
	further() document.Object
}

// Further is what an info of a known type holds beyond the fields of the
// specification.
type Further struct {
	// Unknown holds the fields of other names. They may be credentials, so JSON leaves
	// them out; documents keep them.
	Unknown Hidden `json:"-"`
}

// further returns the fields that the type does not know.
func (f Further) further() document.Object { return f.Unknown.Reveal() }

// keep sets the fields that the type does not know.
func (f *Further) keep(unknown document.Object) {
	if unknown.Len() > 0 {
		f.Unknown = Hide(unknown)
	}
}

// AlphaInfo is the info of an Alpha channel: a page.
type AlphaInfo struct {
	// AccessToken is the page access token.
	AccessToken Secret `json:"accessToken,omitzero"`
	// Category is the page's category, and CategoryList all of them.
	Category     string         `json:"category,omitzero"`
	CategoryList document.Array `json:"category_list,omitzero"`
	// CustomApp is whether the platform's own Alpha application is used.
	CustomApp bool `json:"customApp,omitzero"`
	// AlphaCommentReply is whether replying to comments is allowed.
	AlphaCommentReply bool `json:"alphaCommentReply,omitzero"`
	// Name is the page's name.
	Name string `json:"name,omitzero"`
	// PageID is the page's id.
	PageID string `json:"pageId,omitzero"`
	// Subscribed is whether the member is subscribed.
	Subscribed bool `json:"subscribed,omitzero"`
	// Tasks are the tasks assigned to the page.
	Tasks []string `json:"tasks,omitzero"`
	Further
}

// Type returns Alpha.
func (AlphaInfo) Type() Type { return Alpha }

// BravoInfo is the info of a Bravo channel: a business phone number.
type BravoInfo struct {
	// AdminAuthToken is the admin's authentication token, AdminAuthTokenExpiry when it
	// expires.
	AdminAuthToken       Secret     `json:"adminAuthToken,omitzero"`
	AdminAuthTokenExpiry SecretTime `json:"adminAuthTokenExpiry,omitzero"`
	// AdminPassword and AdminUsername are what the admin signs in with.
	AdminPassword Secret `json:"adminPassword,omitzero"`
	AdminUsername Secret `json:"adminUsername,omitzero"`
	// APIPath is the address of the admin's API.
	APIPath string `json:"apiPath,omitzero"`
	// BrandID is the id of the brand.
	BrandID string `json:"brandId,omitzero"`
	// CustomApp is whether a custom application is used.
	CustomApp bool `json:"customApp,omitzero"`
	// IntegrationID is the id of the integration.
	IntegrationID string `json:"integrationId,omitzero"`
	// ShopCode is the code of the shop.
	ShopCode string `json:"shopCode,omitzero"`
	// Subscribed is whether push notification is subscribed to.
	Subscribed bool `json:"subscribed,omitzero"`
	// WaID is the business's id on the platform.
	WaID string `json:"waId,omitzero"`
	Further
}

// Type returns Bravo.
func (BravoInfo) Type() Type { return Bravo }

// CharlieInfo is the info of a Charlie channel: a workspace.
type CharlieInfo struct {
	// AccessToken, AppAccessToken and BotAccessToken are the tokens of the user, the
	// app and the bot.
	AccessToken    Secret `json:"accessToken,omitzero"`
	AppAccessToken Secret `json:"appAccessToken,omitzero"`
	BotAccessToken Secret `json:"botAccessToken,omitzero"`
	// BotID is the bot's id.
	BotID string `json:"botId,omitzero"`
	// CustomApp is whether a custom application is used.
	CustomApp bool `json:"customApp,omitzero"`
	// SigningSecret is what the platform signs its requests with.
	SigningSecret Secret `json:"signingSecret,omitzero"`
	// Subscribed is whether the user subscribed to the bot.
	Subscribed bool `json:"subscribed,omitzero"`
	// TeamID is the workspace's id.
	TeamID string `json:"teamId,omitzero"`
	// Token and WebhookToken are further tokens.
	Token        Secret `json:"token,omitzero"`
	WebhookToken Secret `json:"webhookToken,omitzero"`
	Further
}

// Type returns Charlie.
func (CharlieInfo) Type() Type { return Charlie }

// DeltaInfo is the info of a Delta channel.
type DeltaInfo struct {
	// APIKey and APIToken are the API's credentials.
	APIKey   Secret `json:"apiKey,omitzero"`
	APIToken Secret `json:"apiToken,omitzero"`
	// CustomApp is whether a custom application is used.
	CustomApp bool `json:"customApp,omitzero"`
	// Env is the application's environment.
	Env string `json:"env,omitzero"`
	// ModuleKey is the module's key, which works like a token.
	ModuleKey Secret `json:"moduleKey,omitzero"`
	// Subscribed is whether push notification is subscribed to.
	Subscribed bool `json:"subscribed,omitzero"`
	// TbID is the bot's id.
	TbID string `json:"tbId,omitzero"`
	Further
}

// Type returns Delta.
func (DeltaInfo) Type() Type { return Delta }

// EchoInfo is the info of an Echo channel: an official account.
type EchoInfo struct {
	// AccessToken is the account's token, AccessTokenExpiry when it expires.
	AccessToken       Secret     `json:"accessToken,omitzero"`
	AccessTokenExpiry SecretTime `json:"accessTokenExpiry,omitzero"`
	// AppID is the app's id, Appsecret its secret.
	AppID     string `json:"appId,omitzero"`
	Appsecret Secret `json:"appsecret,omitzero"`
	// BotOpenID is the bot's open id.
	BotOpenID string `json:"botOpenId,omitzero"`
	// JSAPITicket is the ticket for scripts in web pages, JSAPITicketExpiry when it
	// expires.
	JSAPITicket       Secret     `json:"JSAPITicket,omitzero"`
	JSAPITicketExpiry SecretTime `json:"JSAPITicketExpiry,omitzero"`
	// Subscribed is whether push notification is subscribed to.
	Subscribed bool `json:"subscribed,omitzero"`
	Further
}

// Type returns Echo.
func (EchoInfo) Type() Type { return Echo }

// OtherInfo is the info of any other type, as it came. All of it is hidden.
type OtherInfo struct{ Hidden }

// Type returns "".
func (OtherInfo) Type() Type { return "" }

// further returns nothing: Hidden holds all that there is.
func (OtherInfo) further() document.Object { return document.Object{} }

// readInfo reads the info of a channel by the channel's type. It is nil where there
// is none.
func readInfo(source document.Object) (Info, error) {
	given, _ := source.Field(fieldInfo)
	if given == nil {
		return nil, nil
	}
	if given == redactedText {
		return OtherInfo{Hidden{lost: true}}, nil
	}
	var fields document.Object
	if err := document.DecodeValue(given, &fields); err != nil {
		return nil, err
	}
	if read := PlatformOf(Type(document.Get(source, fieldType, ""))).readInfo; read != nil {
		return read(fields)
	}
	return OtherInfo{Hide(fields)}, nil
}

// infoReader returns how an info of a known type is read.
func infoReader[T Info, P interface {
	*T
	keep(unknown document.Object)
}]() func(fields document.Object) (Info, error) {
	known := namesOf(reflect.TypeFor[T]())
	return func(fields document.Object) (Info, error) {
		var info T
		if err := document.Decode(fields, &info); err != nil {
			return nil, err
		}
		P(&info).keep(further(fields, known))
		return info, nil
	}
}

// further returns the fields that are not known.
func further(fields document.Object, known []string) document.Object {
	var unknown document.Builder
	for name, value := range fields.All() {
		if !slices.Contains(known, name) {
			unknown.Set(name, value)
		}
	}
	return unknown.Object()
}

// namesOf returns the JSON names of a struct's fields.
func namesOf(t reflect.Type) []string {
	var names []string
	for field := range slices.Values(reflect.VisibleFields(t)) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
