package s3

import (
	"context"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob/s3blob"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// Config says where the bucket is, and who may write to it.
type Config struct {
	// Bucket is the bucket's name. It must exist. Required.
	Bucket string
	// Region is where the bucket is. Default: that of the environment, as AWS's tools find it.
	Region string
	// Endpoint is the URL of a store other than AWS's, such as "https://minio.example.com".
	// Its buckets are addressed in the path, and checksums are sent only where they must be,
	// since many stores take no others.
	Endpoint string
	// AccessKeyID and SecretAccessKey are the account, both or none. Default: that of the
	// environment, as AWS's tools find it, which also renews what expires.
	AccessKeyID     string
	SecretAccessKey channel.Secret
}

// Open returns a store over a bucket. It does not connect: that the bucket exists and may be
// written to shows with the first file.
//
// InvalidArgument: the configuration lacks something, at the name of its field.
// FailedPrecondition: the environment's configuration cannot be read.
func Open(ctx context.Context, given Config) (*blob.Store, error) {
	if err := given.check(); err != nil {
		return nil, err
	}
	environment, err := config.LoadDefaultConfig(ctx, given.overrides()...)
	if err != nil {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the configuration of AWS in the environment cannot be read; correct it: %w", err)
	}
	if environment.Region == "" {
		return nil, boterr.Invalid("Region", "is required where the environment names none: give that of the bucket")
	}
	client := s3.NewFromConfig(environment, func(options *s3.Options) {
		options.HTTPClient = boundedClient(options.HTTPClient)
		options.Retryer = patient{RetryerV2: retry.NewStandard()}
		if given.Endpoint != "" {
			options.BaseEndpoint = aws.String(given.Endpoint)
			options.UsePathStyle = true
		}
	})
	bucket, err := s3blob.OpenBucket(ctx, client, given.Bucket, &s3blob.Options{
		RequestChecksumCalculation: environment.RequestChecksumCalculation,
	})
	if err != nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the bucket cannot be opened: %w", err)
	}
	return blob.New(bucket), nil
}

func (c Config) check() error {
	hasSecret := c.SecretAccessKey.Reveal() != ""
	switch {
	case c.Bucket == "":
		return boterr.Invalid("Bucket", "is required")
	case c.AccessKeyID == "" && hasSecret:
		return boterr.Invalid("AccessKeyID", "is required beside a secret access key")
	case c.AccessKeyID != "" && !hasSecret:
		return boterr.Invalid("SecretAccessKey", "is required beside an access key id")
	case c.Endpoint == "":
		return nil
	}
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" {
		return boterr.Invalid("Endpoint", "must be a URL such as \"https://minio.example.com\"")
	}
	return nil
}

// overrides returns what is given in place of what the environment has.
func (c Config) overrides() []func(*config.LoadOptions) error {
	var overrides []func(*config.LoadOptions) error
	if c.Region != "" {
		overrides = append(overrides, config.WithRegion(c.Region))
	}
	if c.AccessKeyID != "" {
		overrides = append(overrides, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey.Reveal(), "")))
	}
	if c.Endpoint != "" {
		overrides = append(overrides,
			config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
			config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	}
	return overrides
}
