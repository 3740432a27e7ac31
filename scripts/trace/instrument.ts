/**
 * Compiles a walk together with the sources that it uses, so that each function reports when it
 * runs. The recorder counts what a coverage report cannot show: the order of calls, and how often
 * the name of the operation is looked up.
 */
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';

/** Calls of the recorder that the compiled code makes. `recorder.ts` defines them. */
const ENTER = '__traceEnter';
const EXIT = '__traceExit';
const KEY = '__traceKey';
const CREATED = '__traceCreated';

/** Methods whose first argument is a key that is looked up. */
const LOOKUPS = new Set(['get', 'has']);

export interface InstrumentedFunction {
  readonly file: string;
  readonly name: string;
  readonly line: number;
}

export interface InstrumentedBundle {
  readonly code: string;
  readonly functions: readonly InstrumentedFunction[];
}

/** Bundles the module `code` of `root`. Only files below `root`/src are instrumented. */
export async function instrument(root: string, code: string): Promise<InstrumentedBundle> {
  const functions: InstrumentedFunction[] = [];
  const plugin: Plugin = {
    name: 'instrument',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        const file = relative(root, path);
        if (!file.startsWith('src/')) return undefined;
        const source = await readFile(path, 'utf8');
        return { contents: instrumentFile(file, source, functions), loader: 'js' };
      });
    },
  };
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    conditions: ['node'],
    plugins: [plugin],
    logLevel: 'error',
  });
  return { code: outputFiles[0]?.text ?? '', functions };
}

function instrumentFile(file: string, source: string, functions: InstrumentedFunction[]): string {
  const { outputText } = ts.transpileModule(source, {
    fileName: file,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      jsx: ts.JsxEmit.ReactJSX,
    },
    transformers: { before: [(context) => (root) => visitFile(context, root)] },
  });
  return outputText;

  function visitFile(context: ts.TransformationContext, root: ts.SourceFile): ts.SourceFile {
    const { factory } = context;
    const call = (name: string, ...args: ts.Expression[]): ts.Expression =>
      callFunction(factory, name, ...args);

    const visit = (node: ts.Node): ts.Node => {
      const visited = ts.visitEachChild(node, visit, context);
      if (isFunction(visited)) return wrapFunction(visited, node as FunctionNode);
      if (ts.isElementAccessExpression(visited)) return wrapElementKey(context, visited);
      if (ts.isCallExpression(visited)) return wrapLookup(context, visited);
      if (ts.isNewExpression(visited)) return wrapCreation(visited);
      const isLiteral =
        ts.isObjectLiteralExpression(visited) || ts.isArrayLiteralExpression(visited);
      if (isLiteral && !isAssigned(node)) return wrapCreation(visited);
      return visited;
    };

    const wrapCreation = (node: ts.Expression): ts.Node =>
      ts.isParenthesizedExpression(node) ? node : call(CREATED, node);

    const wrapFunction = (node: FunctionNode, original: FunctionNode): ts.Node => {
      if (node.body === undefined) return node;
      const { line } = root.getLineAndCharacterOfPosition(original.getStart(root));
      const id = functions.push({ file, name: nameFunction(original, root), line: line + 1 }) - 1;
      const body = ts.isBlock(node.body)
        ? node.body
        : factory.createBlock([factory.createReturnStatement(node.body)]);
      const enter = factory.createExpressionStatement(
        call(ENTER, factory.createNumericLiteral(id)),
      );
      const exit = factory.createExpressionStatement(call(EXIT));
      // After the first `await`, the order of a function is that of its callers no more.
      const isSplit =
        node.asteriskToken !== undefined ||
        node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
      const wrapped = isSplit
        ? factory.createBlock([enter, exit, ...body.statements], true)
        : factory.createBlock(
            [enter, factory.createTryStatement(body, undefined, factory.createBlock([exit]))],
            true,
          );
      return withBody(factory, node, wrapped);
    };

    return ts.visitNode(root, visit) as ts.SourceFile;
  }
}

function callFunction(
  factory: ts.NodeFactory,
  name: string,
  ...args: ts.Expression[]
): ts.Expression {
  return factory.createCallExpression(factory.createIdentifier(name), undefined, args);
}

/** Wraps the key of `object[key]`. */
function wrapElementKey(
  { factory }: ts.TransformationContext,
  node: ts.ElementAccessExpression,
): ts.Node {
  if (ts.isNumericLiteral(node.argumentExpression)) return node;
  const key = callFunction(factory, KEY, node.argumentExpression);
  if (ts.isElementAccessChain(node))
    return factory.updateElementAccessChain(node, node.expression, node.questionDotToken, key);
  return factory.updateElementAccessExpression(node, node.expression, key);
}

/** Wraps the key of `map.get(key)` and the like. */
function wrapLookup({ factory }: ts.TransformationContext, node: ts.CallExpression): ts.Node {
  const [key, ...others] = node.arguments;
  const isLookup =
    ts.isPropertyAccessExpression(node.expression) && LOOKUPS.has(node.expression.name.text);
  if (!isLookup || key === undefined || ts.isSpreadElement(key)) return node;
  const args = [callFunction(factory, KEY, key), ...others];
  if (ts.isCallChain(node))
    return factory.updateCallChain(
      node,
      node.expression,
      node.questionDotToken,
      node.typeArguments,
      args,
    );
  return factory.updateCallExpression(node, node.expression, node.typeArguments, args);
}

type FunctionNode =
  | ts.FunctionDeclaration
  | ts.FunctionExpression
  | ts.ArrowFunction
  | ts.MethodDeclaration
  | ts.ConstructorDeclaration
  | ts.AccessorDeclaration;

function isFunction(node: ts.Node): node is FunctionNode {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isConstructorDeclaration(node) ||
    ts.isAccessor(node)
  );
}

function withBody(factory: ts.NodeFactory, node: FunctionNode, body: ts.Block): ts.Node {
  const { modifiers } = node;
  if (ts.isFunctionDeclaration(node))
    return factory.updateFunctionDeclaration(
      node,
      modifiers as readonly ts.Modifier[] | undefined,
      node.asteriskToken,
      node.name,
      node.typeParameters,
      node.parameters,
      node.type,
      body,
    );
  if (ts.isFunctionExpression(node))
    return factory.updateFunctionExpression(
      node,
      modifiers as readonly ts.Modifier[] | undefined,
      node.asteriskToken,
      node.name,
      node.typeParameters,
      node.parameters,
      node.type,
      body,
    );
  if (ts.isArrowFunction(node))
    return factory.updateArrowFunction(
      node,
      modifiers as readonly ts.Modifier[] | undefined,
      node.typeParameters,
      node.parameters,
      node.type,
      node.equalsGreaterThanToken,
      body,
    );
  if (ts.isMethodDeclaration(node))
    return factory.updateMethodDeclaration(
      node,
      modifiers,
      node.asteriskToken,
      node.name,
      node.questionToken,
      node.typeParameters,
      node.parameters,
      node.type,
      body,
    );
  if (ts.isConstructorDeclaration(node))
    return factory.updateConstructorDeclaration(node, modifiers, node.parameters, body);
  if (ts.isGetAccessorDeclaration(node))
    return factory.updateGetAccessorDeclaration(
      node,
      modifiers,
      node.name,
      node.parameters,
      node.type,
      body,
    );
  return factory.updateSetAccessorDeclaration(node, modifiers, node.name, node.parameters, body);
}

/**
 * Returns `Class.method`, or the name of the variable or property that the function is given to.
 */
function nameFunction(node: FunctionNode, root: ts.SourceFile): string {
  const { parent } = node;
  const owner =
    parent !== undefined && ts.isClassLike(parent) ? `${parent.name?.text ?? 'class'}.` : '';
  if (ts.isConstructorDeclaration(node)) return `new ${owner.slice(0, -1)}`;
  if (node.name !== undefined) return `${owner}${node.name.getText(root)}`;
  const isNamed =
    parent !== undefined &&
    (ts.isVariableDeclaration(parent) ||
      ts.isPropertyAssignment(parent) ||
      ts.isPropertyDeclaration(parent));
  return isNamed ? parent.name.getText(root) : '(callback)';
}

/** Whether a literal is a pattern that values are assigned to, as in `[a, b] = pair`. */
function isAssigned(node: ts.Node): boolean {
  const { parent } = node;
  if (parent === undefined) return false;
  if (ts.isBinaryExpression(parent))
    return parent.left === node && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  if (ts.isForOfStatement(parent)) return parent.initializer === node;
  if (ts.isArrayLiteralExpression(parent) || ts.isSpreadElement(parent)) return isAssigned(parent);
  if (ts.isPropertyAssignment(parent)) return isAssigned(parent.parent);
  return false;
}
