package s3_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/botctx/go-sdk/backends/blob/blobtest"
	"github.com/botctx/go-sdk/backends/blob/s3"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// newServer starts a server that speaks S3 on loopback, with one bucket, and returns its URL.
func newServer(t *testing.T, bucket string) string {
	t.Helper()
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket(bucket))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return server.URL
}

// open opens a bucket as Open does, for reading what a store wrote.
func open(t *testing.T, endpoint string) *gocloud.Bucket {
	t.Helper()
	client := awss3.New(awss3.Options{
		Region:                     "eu-central-1",
		BaseEndpoint:               aws.String(endpoint),
		UsePathStyle:               true,
		Credentials:                credentials.NewStaticCredentialsProvider("id", "secret", ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})
	bucket, err := s3blob.OpenBucket(t.Context(), client, "files", &s3blob.Options{
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
	require.NoError(t, err)
	return bucket
}

func TestBucket_Rules(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) *gocloud.Bucket {
		t.Helper()
		return open(t, newServer(t, "files"))
	})
}

// config returns the configuration of a host with an account at a server.
func config(endpoint string) s3.Config {
	return s3.Config{
		Bucket: "files", Region: "eu-central-1", Endpoint: endpoint,
		AccessKeyID: "id", SecretAccessKey: channel.NewSecret("secret"),
	}
}

func aFile() botctx.StoredFile {
	return botctx.StoredFile{
		Key: "app/channel/bills/7.txt", ContentType: "text/plain", Content: strings.NewReader("12.50"),
	}
}

func TestOpen_StoresInTheBucket(t *testing.T) {
	t.Parallel()
	endpoint := newServer(t, "files")
	store, err := s3.Open(t.Context(), config(endpoint))
	require.NoError(t, err)
	require.NoError(t, store.Put(t.Context(), aFile()))
	require.NoError(t, store.Close())

	bucket := open(t, endpoint)
	text, err := bucket.ReadAll(t.Context(), "app/channel/bills/7.txt")
	require.NoError(t, err)
	require.Equal(t, "12.50", string(text))
	require.NoError(t, bucket.Close())
}

func TestUpload_NoSuchBucket(t *testing.T) {
	t.Parallel()
	store, err := s3.Open(t.Context(), config(newServer(t, "others")))
	require.NoError(t, err)
	err = store.Put(t.Context(), aFile())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.NotContains(t, err.Error(), "secret")
	require.NoError(t, store.Close())
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*s3.Config){
		"Bucket":          func(c *s3.Config) { c.Bucket = "" },
		"AccessKeyID":     func(c *s3.Config) { c.AccessKeyID = "" },
		"SecretAccessKey": func(c *s3.Config) { c.SecretAccessKey = channel.Secret{} },
		"Endpoint":        func(c *s3.Config) { c.Endpoint = "minio.example.com" },
	} {
		given := config("https://minio.example.com")
		change(&given)
		_, err := s3.Open(t.Context(), given)
		refused, isError := boterr.AsError(err)
		require.True(t, isError, field)
		require.Equal(t, boterr.InvalidArgument, refused.Code)
		require.Equal(t, field, refused.Field)
	}
}
