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

interface Scripts {
  readonly checkedMutants: (
    root: string,
    files: readonly string[],
    options: { sample?: number; seed: number; signal: AbortSignal; onProgress: () => void },
  ) => Promise<Mutant[]>;
  readonly allMutants: (root: string, files: readonly string[]) => Mutant[];
  readonly instrument: (text: string, mutants: readonly Mutant[], from: string) => string;
  readonly judge: (given: {
    copy: string;
    ids: readonly number[];
    tests: readonly string[];
    askAtMost: number;
    idleAfter?: number;
    signal: AbortSignal;
    onProgress: (at: { file: string; noticed: number; filesLeft: number }) => void;
    stallMs?: number;
  }) => Promise<Judged>;
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
    readonly folders: readonly { readonly folder: string; readonly score: number; readonly met: boolean }[];
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
    json: boolean;
  }) => Promise<number>;
}

const folder = '../../../scripts/mutation';
const files = ['checked', 'instrument', 'judge', 'choose', 'test-files', 'report', 'accepted', 'generated'];
const modules = (await Promise.all(files.map((file) => import(`${folder}/${file}.mjs`)))) as object[];
export const scripts = Object.assign({}, ...modules) as Scripts;

export const quietly = { signal: new AbortController().signal, onProgress: () => {} };
