/**
 * Returns the errors of the TypeScript compiler in programs, with the strict settings of this
 * project.
 */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const tsconfig = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));

/** One error, with all its details in one text. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Files on disk, each parsed once for all programs. */
const sources = new Map<string, ts.SourceFile | undefined>();

/**
 * Compiles `files`, whose keys are paths that need not exist. `paths` maps the names of imported
 * modules to files.
 */
function compile(
  files: ReadonlyMap<string, string>,
  paths: Readonly<Record<string, string[]>> = {},
): ts.Program {
  const { config } = ts.readConfigFile(tsconfig, (path) => ts.sys.readFile(path));
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: [] },
    ts.sys,
    root,
  );
  options.paths = { ...paths };
  const disk = ts.createCompilerHost(options);
  return ts.createProgram([...files.keys()], options, {
    ...disk,
    fileExists: (name) => files.has(name) || disk.fileExists(name),
    readFile: (name) => files.get(name) ?? disk.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const text = files.get(name);
      if (text !== undefined) return ts.createSourceFile(name, text, version);
      const source = sources.get(name) ?? disk.getSourceFile(name, version, ...rest);
      sources.set(name, source);
      return source;
    },
  });
}

/** Returns the problems of `files`; see `compile`. */
export function problemsOf(
  files: ReadonlyMap<string, string>,
  paths?: Readonly<Record<string, string[]>>,
): readonly Problem[] {
  const program = compile(files, paths);
  return [...files.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      problemOf,
    );
  });
}

/**
 * Checks one program and returns how many types the compiler made for it. Fails with its first
 * problem.
 */
export function countTypes(path: string, text: string): number {
  const program = compile(new Map([[path, text]]));
  const [problem] = program.getSemanticDiagnostics(program.getSourceFile(path));
  if (problem !== undefined) throw new Error(problemOf(problem).message);
  return program.getTypeCount();
}

function problemOf({ file, start = 0, messageText }: ts.Diagnostic): Problem {
  const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
  return {
    file: file?.fileName ?? '',
    line,
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
  };
}
