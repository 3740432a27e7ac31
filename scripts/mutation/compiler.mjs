/** What the compiler says of mutants: one that it refuses is none, for no test has to notice it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import ts from 'typescript';

/** Of names and lines that a mutant leaves unused: a linter's business. */
const HARMLESS = new Set([6133, 6138, 6192, 6196, 6198, 6199, 7027, 7028]);

/** What is installed is read once for all compilers of a process: to parse it takes longer than to check what is asked. */
const PARSED = ts.createDocumentRegistry();
let compilers = 0;

/**
 * @param {string} root
 * @param {readonly string[]} files relative to it
 */
export function compiler(root, files) {
  compilers += 1;
  // By its number: the same file may be another one when the next compiler comes to it.
  const own = `${compilers}.`;
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, include: [], files: [] }, ts.sys, root);
  const overlays = new Map();
  const versions = new Map();
  const { sys } = ts;
  const service = ts.createLanguageService(
    {
      getCompilationSettings: () => options,
      getScriptFileNames: () => files.map((file) => join(root, file)),
      getScriptVersion: (path) => (path.includes('/node_modules/') ? '0' : `${own}${versions.get(path) ?? 0}`),
      getScriptSnapshot: (path) => {
        const text = overlays.get(path) ?? sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
      fileExists: sys.fileExists,
      readFile: sys.readFile,
      readDirectory: sys.readDirectory,
      directoryExists: sys.directoryExists,
      getDirectories: sys.getDirectories,
    },
    PARSED,
  );
  const set = (path, text) => {
    versions.set(path, (versions.get(path) ?? 0) + 1);
    if (text === undefined) overlays.delete(path);
    else overlays.set(path, text);
  };

  /** The mutants of a round that nothing is said of. */
  const unblamedOf = (round) => {
    for (const [file, own] of round) set(join(root, file), withAll(sys.readFile(join(root, file)) ?? '', own));
    const errors = new Map([...round.keys()].map((file) => [file, errorsIn(service, join(root, file))]));
    for (const file of round.keys()) set(join(root, file), undefined);
    return [...round].flatMap(([file, own]) => {
      const good = unblamed(own, errors.get(file));
      // What is said between the functions may be due to any of them.
      return good ?? (own.length === 1 ? [] : halvesOf(own).flatMap((half) => unblamedOf(new Map([[file, half]]))));
    });
  };

  return {
    program: () => service.getProgram(),

    /**
     * Checks many at once: one of each function, for what the compiler says within a function is said of its mutant.
     *
     * @param {readonly import('./generate.mjs').Mutant[]} mutants
     * @param {{ signal: AbortSignal, onProgress: (done: number) => void }} options
     * @returns {Promise<import('./generate.mjs').Mutant[]>} those that it accepts
     */
    async accepted(mutants, { signal, onProgress }) {
      const rounds = roundsOf(mutants, (file) => service.getProgram().getSourceFile(join(root, file)));
      const good = [];
      let done = 0;
      for (const round of rounds) {
        // Whoever waits at the terminal can end this.
        await turn();
        if (signal.aborted) break;
        good.push(...unblamedOf(round));
        for (const own of round.values()) done += own.length;
        onProgress(done);
      }
      return good;
    },
  };
}

/** @returns {Map<string, { mutant: object, start: number, end: number }[]>[]} by file, with the functions that they stand in */
function roundsOf(mutants, sourceOf) {
  const rounds = [];
  const taken = new Map();
  for (const mutant of mutants) {
    const { start, end } = functionAround(sourceOf(mutant.file), mutant);
    const key = `${mutant.file}:${start}`;
    const round = taken.get(key) ?? 0;
    taken.set(key, round + 1);
    rounds[round] ??= new Map();
    if (!rounds[round].has(mutant.file)) rounds[round].set(mutant.file, []);
    rounds[round].get(mutant.file).push({ mutant, start, end });
  }
  return rounds;
}

/** The statement of the module, or the member of its class, that the mutant stands in. */
function functionAround(source, { start, end }) {
  const holds = (node) => node.getFullStart() <= start && end <= node.end;
  const statement = source.statements.find(holds);
  const inner = ts.isClassDeclaration(statement) ? (statement.members.find(holds) ?? statement) : statement;
  return { start: inner.getFullStart(), end: inner.end };
}

/** The text with all of them in it; their functions move, and are told where to. */
function withAll(whole, own) {
  let out = '';
  let at = 0;
  for (const each of own.toSorted((a, b) => a.mutant.start - b.mutant.start)) {
    const { start, end, to, kind } = each.mutant;
    const moved = out.length - at;
    out += whole.slice(at, start) + (kind === 'statement' ? ';' : `(${to})`);
    at = end;
    each.from = each.start + moved;
    each.until = each.end + out.length - at;
  }
  return out + whole.slice(at);
}

function errorsIn(service, path) {
  const all = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)];
  return all.filter(({ code }) => !HARMLESS.has(code)).map(({ start }) => start ?? 0);
}

function halvesOf(all) {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
}

/** Those within whose functions no error is; `undefined` where one is between them. */
function unblamed(own, errors) {
  const isWithin = (error, { from, until }) => from <= error && error < until;
  if (errors.some((error) => !own.some((each) => isWithin(error, each)))) return undefined;
  return own.filter((each) => !errors.some((error) => isWithin(error, each))).map(({ mutant }) => mutant);
}
