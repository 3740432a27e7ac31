/** The handshake of a connection: the version and options, the login, and the keyspace. */
import { CqlError, SERVER_ERROR } from './cql-error.ts';
import { encodeAuthResponse, encodeOptions, encodeStartup, encodeUse } from './requests.ts';
import type { ReadStrategyOptions } from '../../bindings/cassandra/read-strategy.ts';
import type { Response } from './responses.ts';

export interface HandshakeOptions {
  readonly credentials: ReadStrategyOptions['credentials'];
  /** The keyspace of statements that name none. */
  readonly keyspace: string | undefined;
}

export type SendRequest = (frame: Buffer) => Promise<Response>;

/**
 * The option of `SUPPORTED` that lists the versions of incremental reads, and the version of this
 * client.
 */
const ICG_OPTION = 'CORRECTABLES_ICG';
const ICG_VERSION = '1';

/**
 * Returns whether the node gives preliminary replies. Throws `AUTHENTICATION`, `SERVER` or
 * `PROTOCOL`.
 */
export async function performHandshake(
  ask: SendRequest,
  { credentials, keyspace }: HandshakeOptions,
): Promise<boolean> {
  const greeting = await ask(encodeStartup());
  if (greeting.kind === 'authenticate')
    await authenticate(ask, greeting.authenticator, credentials);
  else expectKind(greeting, 'ready');
  if (keyspace !== undefined) expectKind(await ask(encodeUse(keyspace)), 'setKeyspace');
  const supported = await ask(encodeOptions());
  expectKind(supported, 'supported');
  return supported.options.get(ICG_OPTION)?.includes(ICG_VERSION) ?? false;
}

/** Authenticates by SASL PLAIN: no identity to act as, the user, the password. */
async function authenticate(
  ask: SendRequest,
  authenticator: string,
  credentials: HandshakeOptions['credentials'],
): Promise<void> {
  if (credentials === undefined) {
    throw new CqlError(
      'AUTHENTICATION',
      `the node wants credentials (${authenticator}): give some`,
    );
  }
  const token = Buffer.from(`\0${credentials.username}\0${credentials.password}`);
  let answer = await ask(encodeAuthResponse(token));
  // Some nodes send a challenge for the mechanism first. One challenge is answered. A second one
  // belongs to another mechanism.
  if (answer.kind === 'authChallenge') answer = await ask(encodeAuthResponse(token));
  if (answer.kind === 'authChallenge') {
    throw new CqlError('AUTHENTICATION', `${authenticator} wants more than user and password`);
  }
  expectKind(answer, 'authSuccess');
}

function expectKind<K extends Response['kind']>(
  response: Response,
  kind: K,
): asserts response is Response & { readonly kind: K } {
  if (response.kind === kind) return;
  if (response.kind !== 'error')
    throw new CqlError('PROTOCOL', `"${response.kind}" where "${kind}" was due`);
  const { error } = response;
  const code = error.code === SERVER_ERROR.badCredentials ? 'AUTHENTICATION' : 'SERVER';
  throw new CqlError(code, error.message, { server: error });
}
