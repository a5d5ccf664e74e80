//! The shapes of tokens, as their issuers document them.

/// Which characters a token goes on with.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    Alphanumeric,
    Upper,
    Hex,
    Word,
    Url,
    Dotted,
    Path,
}

impl Class {
    pub fn has(self, byte: u8) -> bool {
        match self {
            Class::Alphanumeric => byte.is_ascii_alphanumeric(),
            Class::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Class::Hex => byte.is_ascii_hexdigit(),
            Class::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Class::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Class::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Class::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
        }
    }
}

/// A kind of token: how it begins, and how it goes on.
#[derive(Debug)]
pub struct Shape {
    pub prefix: &'static str,
    pub class: Class,
    pub least: usize,
    pub most: usize,
    pub kind: &'static str,
}

const fn shape(prefix: &'static str, class: Class, least: usize, kind: &'static str) -> Shape {
    Shape { prefix, class, least, most: usize::MAX, kind }
}

const fn exact(prefix: &'static str, class: Class, length: usize, kind: &'static str) -> Shape {
    Shape { prefix, class, least: length, most: length, kind }
}

/// Longer prefixes stand before those that they begin with.
pub const SHAPES: &[Shape] = &[
    shape("github_pat_", Class::Word, 16, "github-token"),
    shape("ghp_", Class::Alphanumeric, 8, "github-token"),
    shape("gho_", Class::Alphanumeric, 8, "github-token"),
    shape("ghu_", Class::Alphanumeric, 8, "github-token"),
    shape("ghs_", Class::Alphanumeric, 8, "github-token"),
    shape("ghr_", Class::Alphanumeric, 8, "github-token"),
    shape("glpat-", Class::Url, 16, "gitlab-token"),
    shape("gldt-", Class::Url, 16, "gitlab-token"),
    shape("glrt-", Class::Url, 16, "gitlab-token"),
    shape("glptt-", Class::Url, 16, "gitlab-token"),
    shape("glcbt-", Class::Url, 16, "gitlab-token"),
    shape("glsa_", Class::Word, 32, "grafana-token"),
    shape("glc_", Class::Alphanumeric, 32, "grafana-token"),
    exact("AKIA", Class::Upper, 16, "aws-key-id"),
    exact("ASIA", Class::Upper, 16, "aws-key-id"),
    exact("ABIA", Class::Upper, 16, "aws-key-id"),
    exact("ACCA", Class::Upper, 16, "aws-key-id"),
    exact("AIza", Class::Url, 35, "google-key"),
    shape("GOCSPX-", Class::Url, 20, "google-secret"),
    shape("ya29.", Class::Url, 20, "google-token"),
    shape("xoxe.xox", Class::Dotted, 16, "slack-token"),
    shape("xoxb-", Class::Url, 10, "slack-token"),
    shape("xoxp-", Class::Url, 10, "slack-token"),
    shape("xoxa-", Class::Url, 10, "slack-token"),
    shape("xoxr-", Class::Url, 10, "slack-token"),
    shape("xoxs-", Class::Url, 10, "slack-token"),
    shape("xoxe-", Class::Url, 10, "slack-token"),
    shape("xapp-", Class::Url, 10, "slack-token"),
    shape("hooks.slack.com/services/", Class::Path, 20, "slack-webhook"),
    shape("discord.com/api/webhooks/", Class::Path, 30, "discord-webhook"),
    shape("sk_live_", Class::Alphanumeric, 16, "stripe-key"),
    shape("sk_test_", Class::Alphanumeric, 16, "stripe-key"),
    shape("rk_live_", Class::Alphanumeric, 16, "stripe-key"),
    shape("rk_test_", Class::Alphanumeric, 16, "stripe-key"),
    shape("whsec_", Class::Alphanumeric, 16, "stripe-secret"),
    shape("sk-ant-", Class::Url, 16, "anthropic-key"),
    shape("sk-proj-", Class::Url, 16, "openai-key"),
    shape("sk-svcacct-", Class::Url, 16, "openai-key"),
    shape("sk-admin-", Class::Url, 16, "openai-key"),
    shape("sk-or-", Class::Url, 20, "openrouter-key"),
    shape("sk-", Class::Alphanumeric, 20, "api-key"),
    shape("xai-", Class::Alphanumeric, 40, "xai-key"),
    shape("gsk_", Class::Alphanumeric, 32, "groq-key"),
    shape("pplx-", Class::Alphanumeric, 32, "perplexity-key"),
    shape("nvapi-", Class::Url, 32, "nvidia-key"),
    shape("r8_", Class::Alphanumeric, 32, "replicate-token"),
    shape("hf_", Class::Alphanumeric, 24, "huggingface-token"),
    shape("npm_", Class::Alphanumeric, 24, "npm-token"),
    shape("pypi-", Class::Url, 40, "pypi-token"),
    shape("rubygems_", Class::Hex, 40, "rubygems-key"),
    shape("SG.", Class::Dotted, 40, "sendgrid-key"),
    exact("SK", Class::Hex, 32, "twilio-key"),
    shape("key-", Class::Hex, 32, "mailgun-key"),
    shape("dop_v1_", Class::Hex, 40, "digitalocean-token"),
    shape("doo_v1_", Class::Hex, 40, "digitalocean-token"),
    shape("dor_v1_", Class::Hex, 40, "digitalocean-token"),
    shape("dapi", Class::Hex, 32, "databricks-token"),
    shape("dp.pt.", Class::Alphanumeric, 32, "doppler-token"),
    shape("dp.st.", Class::Dotted, 32, "doppler-token"),
    shape("shpat_", Class::Hex, 32, "shopify-token"),
    shape("shpca_", Class::Hex, 32, "shopify-token"),
    shape("shppa_", Class::Hex, 32, "shopify-token"),
    shape("shpss_", Class::Hex, 32, "shopify-token"),
    shape("lin_api_", Class::Alphanumeric, 32, "linear-key"),
    shape("tskey-", Class::Url, 20, "tailscale-key"),
    shape("figd_", Class::Url, 30, "figma-token"),
    shape("sntrys_", Class::Url, 40, "sentry-token"),
    shape("hvs.", Class::Url, 20, "vault-token"),
    shape("ATATT3", Class::Dotted, 40, "atlassian-token"),
    shape("AGE-SECRET-KEY-1", Class::Upper, 50, "age-key"),
    shape("PMAK-", Class::Url, 40, "postman-key"),
    shape("ops_eyJ", Class::Url, 40, "onepassword-token"),
    shape("sbp_", Class::Hex, 40, "supabase-token"),
    shape("v1.0-", Class::Url, 140, "cloudflare-token"),
];
