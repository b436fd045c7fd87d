package channel

import (
	"reflect"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// Info holds the settings and credentials of a channel's platform: AlphaInfo, BravoInfo,
// CharlieInfo, DeltaInfo or EchoInfo, depending on the channel's type, and OtherInfo for every
// other type. Decoding a channel yields values, not pointers:
//
//	if info, ok := c.Info.(channel.AlphaInfo); ok { ... info.AccessToken.Reveal() ... }
type Info interface {
	// Type returns the channel type that uses this info, or "" for OtherInfo.
	Type() Type
	// further returns the fields that the Go type does not define.
	further() document.Object
}

// Further holds the fields of an info that the specification does not define.
type Further struct {
	// Unknown may contain credentials, so JSON leaves it out; documents keep it.
	Unknown Hidden `json:"-"`
}

func (f Further) further() document.Object { return f.Unknown.Reveal() }

func (f *Further) keep(unknown document.Object) {
	if unknown.Len() > 0 {
		f.Unknown = Hide(unknown)
	}
}

// AlphaInfo is the info of an Alpha channel, which is a page.
type AlphaInfo struct {
	// AccessToken is the page access token.
	AccessToken Secret `json:"accessToken,omitzero"`
	// Category is the page's main category; CategoryList holds all of them.
	Category     string         `json:"category,omitzero"`
	CategoryList document.Array `json:"category_list,omitzero"`
	// CustomApp is true if the page has its own Alpha application instead of the host's.
	CustomApp bool `json:"customApp,omitzero"`
	// AlphaCommentReply reports whether replying to comments is allowed.
	AlphaCommentReply bool `json:"alphaCommentReply,omitzero"`
	// Name is the page's name.
	Name string `json:"name,omitzero"`
	// PageID is the page's id.
	PageID string `json:"pageId,omitzero"`
	// Subscribed reports whether the member is subscribed.
	Subscribed bool `json:"subscribed,omitzero"`
	// Tasks are the tasks assigned to the page.
	Tasks []string `json:"tasks,omitzero"`
	Further
}

// Type returns Alpha.
func (AlphaInfo) Type() Type { return Alpha }

// BravoInfo is the info of a Bravo channel, which is a business phone number.
type BravoInfo struct {
	// AdminAuthToken is the admin's authentication token, which expires at AdminAuthTokenExpiry.
	AdminAuthToken       Secret     `json:"adminAuthToken,omitzero"`
	AdminAuthTokenExpiry SecretTime `json:"adminAuthTokenExpiry,omitzero"`
	// AdminPassword and AdminUsername are the admin's login.
	AdminPassword Secret `json:"adminPassword,omitzero"`
	AdminUsername Secret `json:"adminUsername,omitzero"`
	// APIPath is the URL of the admin API.
	APIPath string `json:"apiPath,omitzero"`
	// BrandID is the id of the brand.
	BrandID string `json:"brandId,omitzero"`
	// CustomApp is true if the number has its own application instead of the host's.
	CustomApp bool `json:"customApp,omitzero"`
	// IntegrationID is the id of the integration.
	IntegrationID string `json:"integrationId,omitzero"`
	// ShopCode is the code of the shop.
	ShopCode string `json:"shopCode,omitzero"`
	// Subscribed reports whether push notifications are on.
	Subscribed bool `json:"subscribed,omitzero"`
	// WaID is the business's id on the platform.
	WaID string `json:"waId,omitzero"`
	Further
}

// Type returns Bravo.
func (BravoInfo) Type() Type { return Bravo }

// CharlieInfo is the info of a Charlie channel, which is a workspace.
type CharlieInfo struct {
	// AccessToken, AppAccessToken and BotAccessToken are the tokens of the user, the app and the
	// bot.
	AccessToken    Secret `json:"accessToken,omitzero"`
	AppAccessToken Secret `json:"appAccessToken,omitzero"`
	BotAccessToken Secret `json:"botAccessToken,omitzero"`
	// BotID is the bot's id.
	BotID string `json:"botId,omitzero"`
	// CustomApp reports whether a custom application is used.
	CustomApp bool `json:"customApp,omitzero"`
	// SigningSecret is the key that signs the platform's requests.
	SigningSecret Secret `json:"signingSecret,omitzero"`
	// Subscribed reports whether the user subscribed to the bot.
	Subscribed bool `json:"subscribed,omitzero"`
	// TeamID is the workspace's id.
	TeamID string `json:"teamId,omitzero"`
	// Token and WebhookToken are additional tokens.
	Token        Secret `json:"token,omitzero"`
	WebhookToken Secret `json:"webhookToken,omitzero"`
	Further
}

// Type returns Charlie.
func (CharlieInfo) Type() Type { return Charlie }

// DeltaInfo is the info of a Delta channel.
type DeltaInfo struct {
	// APIKey and APIToken are the API credentials.
	APIKey   Secret `json:"apiKey,omitzero"`
	APIToken Secret `json:"apiToken,omitzero"`
	// CustomApp reports whether a custom application is used.
	CustomApp bool `json:"customApp,omitzero"`
	// Env is the application's environment.
	Env string `json:"env,omitzero"`
	// ModuleKey is the module's key, used as a token.
	ModuleKey Secret `json:"moduleKey,omitzero"`
	// Subscribed reports whether push notifications are on.
	Subscribed bool `json:"subscribed,omitzero"`
	// TbID is the bot's id.
	TbID string `json:"tbId,omitzero"`
	Further
}

// Type returns Delta.
func (DeltaInfo) Type() Type { return Delta }

// EchoInfo is the info of an Echo channel, which is an official account.
type EchoInfo struct {
	// AccessToken is the account's token, which expires at AccessTokenExpiry.
	AccessToken       Secret     `json:"accessToken,omitzero"`
	AccessTokenExpiry SecretTime `json:"accessTokenExpiry,omitzero"`
	// AppID is the app's id; Appsecret is its secret.
	AppID     string `json:"appId,omitzero"`
	Appsecret Secret `json:"appsecret,omitzero"`
	// BotOpenID is the bot's open id.
	BotOpenID string `json:"botOpenId,omitzero"`
	// JSAPITicket is the ticket for scripts in web pages, which expires at JSAPITicketExpiry.
	JSAPITicket       Secret     `json:"JSAPITicket,omitzero"`
	JSAPITicketExpiry SecretTime `json:"JSAPITicketExpiry,omitzero"`
	// Subscribed reports whether push notifications are on.
	Subscribed bool `json:"subscribed,omitzero"`
	Further
}

// Type returns Echo.
func (EchoInfo) Type() Type { return Echo }

// OtherInfo is the info of any other channel type. All of its fields are kept, and all are hidden.
type OtherInfo struct{ Hidden }

// Type returns "".
func (OtherInfo) Type() Type { return "" }

func (OtherInfo) further() document.Object { return document.Object{} }

// readInfo decodes the info of a channel according to the channel's type. It returns nil if the
// channel has no info.
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

// infoReader returns a function that decodes an info of type T.
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

// further returns the fields whose names are not in known.
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
