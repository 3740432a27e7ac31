/**
 * `correctables/bindings/tiered/node`: sessions of a tiered binding that go on in another process.
 * Node only.
 */
export { signedTokens, type SignedTokensOptions } from './signed-tokens.ts';
