/** Reads the flags that decide which clients may connect. */
import { findClosestName } from '../../correctable/unknown-option.ts';
import type { Authenticate, Authorize } from '../../server/gateway/context/gateway-context.ts';
import type { GatewayLimits } from '../../server/gateway/limits/limits.ts';
import { loadModule, isService } from '../load-module.ts';
import { createUsageError, readText, type RawOptions } from '../options.ts';
import type * as SignedTokens from './signed-tokens.ts';

/** Options of `serve` from the flags `--auth` and `--auth-keys`. */
interface Auth {
  readonly authenticate?: Authenticate | undefined;
  readonly authorize?: Authorize | undefined;
  readonly limits?: Partial<GatewayLimits> | undefined;
}

const FUNCTIONS = ['authenticate', 'authorize'] as const;
const EXPORTS: readonly string[] = [...FUNCTIONS, 'limits'];

/**
 * Reads `--auth` and `--auth-keys`. With `--auth-keys`, the module of `--auth` may export only
 * `authorize`.
 */
export async function loadAuth(options: RawOptions): Promise<Auth> {
  const value =
    options['auth'] === undefined ? {} : await loadAuthModule(readText(options, 'auth'));
  if (options['authKeys'] === undefined) {
    for (const flag of ['authIssuer', 'authAudience']) {
      if (options[flag] !== undefined)
        throw createUsageError(flag, 'is about signed tokens: give --auth-keys as well');
    }
    if (options['auth'] === undefined || value.authenticate !== undefined) return value;
    throw createUsageError(
      'auth',
      'names a module that exports no `authenticate`: export one, or give --auth-keys',
    );
  }
  if (value.authenticate !== undefined) {
    throw createUsageError(
      'auth-keys',
      'checks tokens, and so does `authenticate` of the module of --auth: give one of them',
    );
  }
  const [issuer, subscribers] = ['authIssuer', 'authAudience'].map((flag) =>
    options[flag] === undefined ? undefined : readText(options, flag),
  );
  const { createTokenVerifier } = await loadTokenVerifier();
  return {
    ...value,
    authenticate: await createTokenVerifier(readText(options, 'authKeys'), {
      issuer,
      audience: subscribers,
    }),
  };
}

/** Loads the verifier of signed tokens. Only servers with `--auth-keys` need the package `jose`. */
async function loadTokenVerifier(): Promise<typeof SignedTokens> {
  try {
    return await import('./signed-tokens.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw createUsageError(
      'auth-keys',
      'needs the package jose. Install it beside correctables: npm install jose',
    );
  }
}

async function loadAuthModule(path: string): Promise<Auth> {
  const module = await loadModule('auth', path);
  rejectMisspelledExports(module, path);
  for (const name of FUNCTIONS) {
    if (module[name] === undefined || typeof module[name] === 'function') continue;
    throw createUsageError('auth', `names ${path}, whose \`${name}\` is no function`);
  }
  const { authenticate, authorize, limits } = module as Auth;
  return { authenticate, authorize, limits };
}

/**
 * Rejects exports whose names resemble those that are read. A misspelled `authorize` would be
 * ignored, and let in clients that its author wants to refuse. Other exports count as helpers.
 */
function rejectMisspelledExports(module: Readonly<Record<string, unknown>>, path: string): void {
  const whole = isService(module['default']) ? undefined : module['default'];
  const isRepeated =
    whole === undefined ||
    (typeof whole === 'object' &&
      Object.entries(whole ?? {}).every(([name, value]) => module[name] === value));
  if (!isRepeated) {
    const problem = `whose default export is not used: export ${EXPORTS.join(', ')} by these names`;
    throw createUsageError('auth', `names ${path}, ${problem}`);
  }
  for (const name of Object.keys(module).filter((item) => !EXPORTS.includes(item))) {
    const meant = findClosestName(name, EXPORTS);
    if (meant === undefined) continue;
    throw createUsageError(
      'auth',
      `names ${path}, which exports \`${name}\`. Did you mean \`${meant}\`? Rename it`,
    );
  }
}
