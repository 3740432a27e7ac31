/** Runs a program of the editor: its imports of the package are those of this page. */
import * as core from 'correctables';
import * as memoryBinding from 'correctables/bindings/memory';
import * as tieredBinding from 'correctables/bindings/tiered';
import * as operations from 'correctables/operations';

/** A view of an operation that the program has drawn. */
export interface PlayedView {
  readonly atMs: number;
  readonly text: string;
  readonly kind: 'early' | 'confirmed' | 'wasted' | 'wrong';
}

export interface PlayOptions {
  readonly distanceMs: number;
  readonly lagMs: number;
  readonly print: (text: string) => void;
  readonly onView: (name: string, views: readonly PlayedView[]) => void;
}

const MODULES: Readonly<Record<string, object>> = {
  correctables: core,
  'correctables/bindings/memory': memoryBinding,
  'correctables/bindings/tiered': tieredBinding,
  'correctables/operations': operations,
};

const IMPORT = /^import\s+\{([^}]*)\}\s+from\s+'([^']+)';?/gm;

/** A program runs as the body of an asynchronous function, which has no import statements. */
function replaceImports(code: string): string {
  return code.replaceAll(IMPORT, (_, names: string, module: string) => {
    if (MODULES[module] === undefined)
      throw new Error(`no module '${module}' here: use ${Object.keys(MODULES).join(', ')}`);
    return `const {${names.replaceAll(/\s+as\s+/g, ': ')}} = modules['${module}'];`;
  });
}

type AnyCorrectable = core.Correctable<unknown>;
type Program = (...parts: unknown[]) => Promise<void>;

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Program;

/** Runs a program to its end. What it throws is printed. */
export async function runCode(code: string, { distanceMs, lagMs, print, onView }: PlayOptions): Promise<void> {
  const draw = (name: string, correctable: AnyCorrectable): void => {
    const beganAt = performance.now();
    const views: PlayedView[] = [];
    const add = (text: string, kind: PlayedView['kind']): void => {
      views.push({ atMs: performance.now() - beganAt, text, kind });
      onView(name, [...views]);
    };
    correctable.onUpdate((value, view) => add(`${view.level}: ${format(value)}`, 'early'));
    correctable.onFinal((value, view) => {
      if (view.confirms !== true && views.length > 0) markWasted(views);
      add(`${view.level}: ${format(value)}`, 'confirmed');
    });
    correctable.onError((error) => add(error.code, 'wrong'));
  };
  try {
    const names = ['modules', 'draw', 'print', 'distanceMs', 'lagMs'];
    const program = new AsyncFunction(...names, replaceImports(code));
    await program(MODULES, draw, (value: unknown) => print(format(value)), distanceMs, lagMs);
  } catch (error) {
    print(String(error));
  }
}

/** The last early view was wrong. */
function markWasted(views: PlayedView[]): void {
  const last = views.pop();
  if (last !== undefined) views.push({ ...last, kind: 'wasted' });
}

function format(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
}
