/** The scripts of `npm run mutate`, with types: scripts are plain JavaScript, of which the compiler knows nothing. */
export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly start: number;
  readonly end: number;
  readonly kind: 'expression' | 'statement';
}

export interface Accepted {
  readonly file: string;
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

export interface Judged {
  readonly noticed: ReadonlyMap<number, { readonly how: string; readonly by: string }>;
  readonly met: ReadonlySet<number>;
  readonly failing: ReadonlyMap<string, readonly string[]>;
  readonly undecided: ReadonlySet<number>;
  readonly notAsked: number;
}

export interface Entry {
  readonly file: string;
  readonly met?: readonly number[];
  readonly failing?: readonly string[];
  readonly noticed?: number;
  readonly missed?: number;
  readonly how?: string;
  readonly done?: boolean;
}

interface Judging {
  readonly copy: string;
  readonly ids: readonly number[];
  readonly tests: readonly string[];
  readonly askAtMost: number;
  readonly idleAfter?: number;
  readonly name?: string;
  readonly signal: AbortSignal;
  readonly onProgress: (at: { file: string; noticed: number; missed: number; filesLeft: number }) => void;
  readonly stallMs?: number;
}

export interface Keep {
  readonly known: () => readonly Entry[];
  readonly note: (entry: Entry) => void;
}

type KeepFor = (ids: readonly number[]) => Keep;

interface Scripts {
  readonly checkedMutants: (
    root: string,
    files: readonly string[],
    options: { sample?: number; seed: number; signal: AbortSignal; onProgress: () => void },
  ) => Promise<Mutant[]>;
  readonly allMutants: (root: string, files: readonly string[]) => Mutant[];
  readonly instrument: (text: string, mutants: readonly Mutant[], from: string) => string;
  readonly judge: (given: Judging) => Promise<Judged>;
  readonly judgeSideBySide: (jobs: number, given: Judging & { keepFor?: KeepFor }) => Promise<Judged>;
  readonly keptIn: (
    path: string,
    about: { mutants: readonly Mutant[]; askAtMost: number; states: ReadonlyMap<string, string> },
  ) => KeepFor;
  readonly statesOf: (root: string, tests: readonly string[]) => Map<string, string>;
  readonly shuffled: <T>(all: readonly T[], seed: number) => T[];
  readonly testFilesFor: (root: string, tests: readonly string[], mutated: ReadonlySet<string>) => string[];
  readonly accepted: (entries: readonly Accepted[]) => Map<string, string>;
  readonly summary: (
    mutants: readonly Mutant[],
    judged: Judged,
    reasons: Map<string, string>,
  ) => {
    readonly score: number | null;
    readonly mutants: number;
    readonly undecided: readonly Mutant[];
    readonly withReason: number;
    readonly folders: readonly { readonly folder: string; readonly score: number | null; readonly met: boolean }[];
    readonly survivors: readonly (Mutant & { readonly isMet: boolean; readonly reason?: string })[];
  };
  readonly ACCEPTED: readonly Accepted[];
  readonly runGenerated: (options: {
    paths: readonly string[];
    sample: number | undefined;
    seed: number;
    since: string | undefined;
    projects: readonly string[];
    tests: string;
    askAtMost: number;
    idleAfter: number;
    jobs: number;
    keep: string | undefined;
    json: boolean;
  }) => Promise<number>;
}

const folder = '../../../scripts/mutation';
const files = [
  'checked',
  'instrument',
  'judge',
  'jobs',
  'kept',
  'choose',
  'test-files',
  'report',
  'accepted',
  'generated',
];
const modules = (await Promise.all(files.map((file) => import(`${folder}/${file}.mjs`)))) as object[];
export const scripts = Object.assign({}, ...modules) as Scripts;

export const quietly = { signal: new AbortController().signal, onProgress: () => {} };
