/** Runs a program in the page: its imports are those of this page. */
import type { Correctable } from 'correctables';
import inspect from 'object-inspect';
import { PLAYABLE_MODULES, isPlayable, type PlayableModule } from '../playable-modules.ts';

/** Each module is loaded when a program imports it, so that pages stay small. */
const LOADERS: Readonly<Record<PlayableModule, () => Promise<object>>> = {
  correctables: () => import('correctables'),
  'correctables/bindings/cache': () => import('correctables/bindings/cache'),
  'correctables/bindings/causal': () => import('correctables/bindings/causal'),
  'correctables/bindings/memory': () => import('correctables/bindings/memory'),
  'correctables/bindings/tiered': () => import('correctables/bindings/tiered'),
  'correctables/operations': () => import('correctables/operations'),
  'correctables/policies': () => import('correctables/policies'),
  'correctables/rxjs': () => import('correctables/rxjs'),
  'correctables/transactions': () => import('correctables/transactions'),
  rxjs: () => import('rxjs'),
};

const IMPORT = /^import\s+\{([^}]*)\}\s+from\s+['"]([^'"]+)['"];?/gm;

type Program = (...parts: unknown[]) => Promise<void>;

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Program;

/**
 * Runs a program to its end. It sees the values of `scope` by their names.
 *
 * @throws what the program throws
 */
export async function runCode(
  code: string,
  scope: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = [...code.matchAll(IMPORT)].map(([, , name = '']) => name);
  const loaded = names.map(async (name) => [name, await load(name)] as const);
  const modules = Object.fromEntries(await Promise.all(loaded));
  const program = new AsyncFunction('modules', ...Object.keys(scope), replaceImports(code));
  await program(modules, ...Object.values(scope));
}

async function load(name: string): Promise<object> {
  if (!isPlayable(name))
    throw new Error(`no module '${name}' here: use ${PLAYABLE_MODULES.join(', ')}`);
  return await LOADERS[name]();
}

/** A program runs as the body of an asynchronous function, which has no import statements. */
function replaceImports(code: string): string {
  return code.replaceAll(
    IMPORT,
    (_, names: string, module: string) =>
      `const {${names.replaceAll(/\s+as\s+/g, ': ')}} = modules['${module}'];`,
  );
}

/** Formats what a program prints as Node does: texts as they are, and other values as code. */
export function format(...values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ');
}

/** The `console` of a program: its texts go to `print`. */
export function createConsole(print: (text: string) => void): Partial<Console> {
  const log = (...values: readonly unknown[]): void => print(format(...values));
  return { ...console, log, info: log, warn: log, error: log };
}

/** A view of an operation that the program has drawn. */
export interface PlayedView {
  readonly atMs: number;
  readonly text: string;
  readonly kind: 'early' | 'confirmed' | 'wasted' | 'wrong';
}

/** Passes the views of a Correctable to `onView`, with their times. */
export function drawViews(
  correctable: Correctable<unknown>,
  onView: (views: readonly PlayedView[]) => void,
): void {
  const beganAt = performance.now();
  const views: PlayedView[] = [];
  const add = (text: string, kind: PlayedView['kind']): void => {
    views.push({ atMs: performance.now() - beganAt, text, kind });
    onView([...views]);
  };
  correctable.onUpdate((value, view) => add(`${view.level}: ${format(value)}`, 'early'));
  correctable.onFinal((value, view) => {
    if (!view.confirms && views.length > 0) markWasted(views);
    add(`${view.level}: ${format(value)}`, 'confirmed');
  });
  correctable.onError((error) => add(error.code, 'wrong'));
}

/** The last early view was wrong. */
function markWasted(views: PlayedView[]): void {
  const last = views.pop();
  if (last !== undefined) views.push({ ...last, kind: 'wasted' });
}
