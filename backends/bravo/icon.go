package bravo

import (
	"bytes"
	"context"
	"image"
	"image/color"
	_ "image/gif" // For image.Decode; icons may be GIFs.
	"image/jpeg"
	_ "image/png" // For image.Decode; icons may be PNGs.
	"mime/multipart"
	"net/http"
	"net/textproto"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/livechat"
)

// SetGroupIcon implements livechat.GroupIconSetter. The platform only accepts square JPEGs, so other pictures
// are cropped to a centred square, scaled and converted. InvalidArgument: the icon is not a JPEG, PNG or GIF,
// or has more than 16 million pixels.
func (c *Connector) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	from, err := c.numberOf(in)
	if err != nil {
		return err
	}
	picture, err := iconOf(icon.Bytes)
	if err != nil {
		return err
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form) // Writing to memory does not fail.
	_ = writer.WriteField("messaging_product", "whatsapp")
	part, _ := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="icon.jpg"`}, "Content-Type": {"image/jpeg"},
	})
	_, _ = part.Write(picture)
	_ = writer.Close()
	_, err = c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{groupExternalID}, Form: form.Bytes(), FormContentType: writer.FormDataContentType(),
	})
	return graph.NotFoundID(err)
}

// The platform's limits for icons, and this package's limit for decoding.
const (
	minIcon       = 192
	maxIcon       = 640
	maxIconBytes  = 5 << 20
	maxIconPixels = 16 << 20
)

// iconOf converts a picture to a square JPEG.
func iconOf(given []byte) ([]byte, error) {
	config, kind, err := image.DecodeConfig(bytes.NewReader(given))
	switch {
	case err != nil:
		return nil, boterr.Invalid("", "is not a readable picture; give a JPEG, a PNG or a GIF")
	case config.Width < 1, config.Height < 1, config.Width > maxIconPixels/config.Height:
		return nil, boterr.Invalid("", "has %d x %d pixels; give a picture of at most 16 million", config.Width, config.Height)
	case kind == "jpeg" && config.Width == config.Height && config.Width >= minIcon && len(given) <= maxIconBytes:
		return given, nil
	}
	decoded, _, err := image.Decode(bytes.NewReader(given))
	if err != nil {
		return nil, boterr.Invalid("", "is a truncated or damaged picture; give a complete one")
	}
	var encoded bytes.Buffer
	err = jpeg.Encode(&encoded, squareOf(decoded), nil)
	return encoded.Bytes(), err
}

// samples squared is the number of points whose mean colour becomes a pixel.
const samples = 3

// squareOf cuts a centred square out of a picture, scales it to a size that the platform accepts, and puts it
// on white.
func squareOf(from image.Image) image.Image {
	bounds := from.Bounds()
	side := min(bounds.Dx(), bounds.Dy())
	left, top := bounds.Min.X+(bounds.Dx()-side)/2, bounds.Min.Y+(bounds.Dy()-side)/2
	size := min(max(side, minIcon), maxIcon)
	square := image.NewRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			var r, g, b uint32
			for i := range samples * samples {
				atX, atY := x*samples+i%samples, y*samples+i/samples
				red, green, blue, alpha := from.At(left+atX*side/(size*samples), top+atY*side/(size*samples)).RGBA()
				r, g, b = r+red+0xffff-alpha, g+green+0xffff-alpha, b+blue+0xffff-alpha
			}
			const mean = samples * samples << 8
			square.SetRGBA(x, y, color.RGBA{uint8(r / mean), uint8(g / mean), uint8(b / mean), 0xff})
		}
	}
	return square
}
