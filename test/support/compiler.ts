/** What the compiler says of programs, under the project's own strict settings. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const tsconfig = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));

/** One complaint, with all that belongs to it in one text. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The problems of `files`, by path, which need not exist; `paths` says where modules are that they import. */
export function problemsOf(
  files: ReadonlyMap<string, string>,
  paths: Readonly<Record<string, string[]>> = {},
): readonly Problem[] {
  const { config } = ts.readConfigFile(tsconfig, (path) => ts.sys.readFile(path));
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  options.paths = { ...paths };
  const disk = ts.createCompilerHost(options);
  const program = ts.createProgram([...files.keys()], options, {
    ...disk,
    fileExists: (name) => files.has(name) || disk.fileExists(name),
    readFile: (name) => files.get(name) ?? disk.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const text = files.get(name);
      return text === undefined ? disk.getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
    },
  });
  return [...files.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(problemOf);
  });
}

function problemOf({ file, start = 0, messageText }: ts.Diagnostic): Problem {
  const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
  return { file: file?.fileName ?? '', line, message: ts.flattenDiagnosticMessageText(messageText, ' ') };
}
