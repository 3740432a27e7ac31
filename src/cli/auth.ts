/** Who may connect, by the flags of the command line: what a module says, or signed tokens. */
import type { Authenticate, Authorise } from '../server/gateway/host/host.ts';
import type { GatewayLimits } from '../server/gateway/limits/limits.ts';
import { isService, loadModule } from './load-module.ts';
import { text, usageError, type Raw } from './options.ts';

/** What `serve` is given of it. */
export interface Auth {
  readonly authenticate?: Authenticate | undefined;
  readonly authorise?: Authorise | undefined;
  readonly limits?: Partial<GatewayLimits> | undefined;
}

const FUNCTIONS = ['authenticate', 'authorise'] as const;
const EXPORTS: readonly string[] = [...FUNCTIONS, 'limits'];

/**
 * What `--auth` and `--auth-keys` say. A module may leave `authenticate` to the keys, and say who may do what.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the flag at fault
 */
export async function authOf(options: Raw): Promise<Auth> {
  const given = options['auth'] === undefined ? {} : await moduleAuth(text(options, 'auth'));
  if (options['authKeys'] === undefined) {
    for (const flag of ['authIssuer', 'authAudience']) {
      if (options[flag] !== undefined) throw usageError(flag, 'is about signed tokens: give --auth-keys as well');
    }
    if (options['auth'] === undefined || given.authenticate !== undefined) return given;
    throw usageError('auth', 'names a module that exports no `authenticate`: export one, or give --auth-keys');
  }
  if (given.authenticate !== undefined) {
    throw usageError(
      'auth-keys',
      'checks tokens, and so does `authenticate` of the module of --auth: give one of them',
    );
  }
  const [issuer, audience] = ['authIssuer', 'authAudience'].map((flag) =>
    options[flag] === undefined ? undefined : text(options, flag),
  );
  const { signedTokens } = await import('./signed-tokens.ts');
  return { ...given, authenticate: await signedTokens(text(options, 'authKeys'), { issuer, audience }) };
}

async function moduleAuth(path: string): Promise<Auth> {
  const module = await loadModule('auth', path);
  refuseMisspelled(module, path);
  for (const name of FUNCTIONS) {
    if (module[name] === undefined || typeof module[name] === 'function') continue;
    throw usageError('auth', `names ${path}, whose \`${name}\` is no function`);
  }
  const { authenticate, authorise, limits } = module as Auth;
  return { authenticate, authorise, limits };
}

/** An `authorize` that is ignored would let in clients that its author wants to refuse. Other exports are helpers. */
function refuseMisspelled(module: Readonly<Record<string, unknown>>, path: string): void {
  const whole = isService(module['default']) ? undefined : module['default'];
  const isRepeated =
    whole === undefined ||
    (typeof whole === 'object' && Object.entries(whole ?? {}).every(([name, value]) => module[name] === value));
  if (!isRepeated) {
    const problem = `whose default export is not used: export ${EXPORTS.join(', ')} by these names`;
    throw usageError('auth', `names ${path}, ${problem}`);
  }
  for (const name of Object.keys(module).filter((each) => !EXPORTS.includes(each))) {
    const meant = closestName(name, EXPORTS);
    if (meant === undefined) continue;
    throw usageError('auth', `names ${path}, which exports \`${name}\`. Did you mean \`${meant}\`? Rename it`);
  }
}

/** More edits than this are another word. */
const MAX_EDITS = 3;

/** Returns the name of `names` that `typed` most resembles; `undefined` if none is within three edits. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const distances = names.map((name) => ({ name, edits: editDistance(typed.toLowerCase(), name.toLowerCase()) }));
  const [closest] = distances.sort((one, other) => one.edits - other.edits);
  // Short names resemble everything.
  const max = Math.min(MAX_EDITS, Math.floor(typed.length / 2));
  return closest !== undefined && closest.edits <= max ? closest.name : undefined;
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] as number) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
