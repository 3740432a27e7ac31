/** The first words on a connection: who we are, which keyspace, and what the node can do. */
import { CqlError, SERVER_ERROR } from './cql-error.ts';
import { authResponseFrame, optionsFrame, startupFrame, useFrame } from './requests.ts';
import type { ReadPathSettings } from '../read-path.ts';
import type { Response } from './responses.ts';

export interface Handshake {
  readonly credentials: ReadPathSettings['credentials'];
  /** For statements that name none. */
  readonly keyspace: string | undefined;
}

/** Sends a frame and waits for its answer. */
export type Ask = (frame: Buffer) => Promise<Response>;

/** The option of `SUPPORTED` that lists the versions of incremental reads, and the one spoken here. */
const ICG_OPTION = 'CORRECTABLES_ICG';
const ICG_VERSION = '1';

/**
 * @returns whether the node gives preliminary replies
 * @throws CqlError `AUTHENTICATION`, `SERVER` or `PROTOCOL`
 */
export async function shakeHands(ask: Ask, { credentials, keyspace }: Handshake): Promise<boolean> {
  const greeting = await ask(startupFrame());
  if (greeting.kind === 'authenticate') await authenticate(ask, greeting.authenticator, credentials);
  else expectKind(greeting, 'ready');
  if (keyspace !== undefined) expectKind(await ask(useFrame(keyspace)), 'setKeyspace');
  const supported = await ask(optionsFrame());
  expectKind(supported, 'supported');
  return supported.options.get(ICG_OPTION)?.includes(ICG_VERSION) ?? false;
}

/** SASL PLAIN: no identity to act as, the user, the password. */
async function authenticate(ask: Ask, authenticator: string, credentials: Handshake['credentials']): Promise<void> {
  if (credentials === undefined) {
    throw new CqlError('AUTHENTICATION', `the node wants credentials (${authenticator}): give some`);
  }
  const token = Buffer.from(`\0${credentials.username}\0${credentials.password}`);
  let answer = await ask(authResponseFrame(token));
  // Some ask for the mechanism first, then for the token: one challenge is answered, more are another mechanism.
  if (answer.kind === 'authChallenge') answer = await ask(authResponseFrame(token));
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
  if (response.kind !== 'error') throw new CqlError('PROTOCOL', `"${response.kind}" where "${kind}" was due`);
  const { error } = response;
  const code = error.code === SERVER_ERROR.badCredentials ? 'AUTHENTICATION' : 'SERVER';
  throw new CqlError(code, error.message, { server: error });
}
