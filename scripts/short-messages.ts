/**
 * Leaves the texts of errors out of the build for pages in production. Every visitor would download
 * them, while the code and the fields of an error contain everything that a program needs.
 * Development and Node get all texts. Nothing else differs, which
 * `test/unit/invalid-arguments/short-messages.test.ts` checks.
 *
 * A text is found by its place, for example as an argument of a function that is listed below. So
 * the sources need no marks. A text in any other place stays, and is downloaded.
 */
import ts from 'typescript';

/** The functions that take a text, and the position of the text among their arguments. */
const TEXT_AT = new Map(
  Object.entries({
    CorrectableError: 1,
    createInvalidArgumentError: 1,
    check: 2,
    createOperationError: 2,
    createAbandonError: 2,
    createUnsupportedError: 2,
    interrupt: 2,
    abandon: 2,
    matches: 1,
  }),
);
/**
 * The names of variables for a text that a function builds before it throws, or for a correct call
 * that the text shows.
 */
const TEXT_NAME = /^(message|advice|([A-Z_]+_)?CALL)$/;
/** The names of properties for a correct call, and for the address of the documentation. */
const EXAMPLE_NAME = /^(call|docs)$/;
/**
 * The texts of checks. They are replaced by empty texts and not left out, because any text means a
 * problem.
 */
const IS_PROBLEM = /^must /;

/** A plugin of tsdown. */
export const shortMessages = {
  name: 'short-messages',
  transform: (code: string, path: string): { code: string } | undefined =>
    path.endsWith('.ts') ? { code: shortenMessages(code) } : undefined,
};

/** Returns the code of a source with empty texts of errors. */
export function shortenMessages(code: string): string {
  const source = ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true);
  let shortened = '';
  let end = 0;
  const leaveOut = (text: ts.Node): void => {
    shortened += `${code.slice(end, text.getStart())}''`;
    end = text.end;
  };
  const visit = (node: ts.Node): void => {
    const text = findText(node);
    if (text === node) leaveOut(node);
    else ts.forEachChild(node, (child) => (child === text ? leaveOut(child) : visit(child)));
  };
  visit(source);
  return shortened + code.slice(end);
}

/** Returns the text of an error that a node is, or has as a child. */
function findText(node: ts.Node): ts.Node | undefined {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const at = TEXT_AT.get(node.expression.getText());
    const argument = at === undefined ? undefined : node.arguments?.[at];
    return argument !== undefined && isText(argument) ? argument : undefined;
  }
  if (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) {
    const names = ts.isVariableDeclaration(node) ? TEXT_NAME : EXAMPLE_NAME;
    const { initializer } = node;
    const isNamed = initializer !== undefined && names.test(node.name.getText());
    return isNamed && isText(initializer) ? initializer : undefined;
  }
  const isProblem =
    (ts.isStringLiteralLike(node) && IS_PROBLEM.test(node.text)) ||
    (ts.isTemplateExpression(node) && IS_PROBLEM.test(node.head.text));
  return isProblem ? node : undefined;
}

/** Returns whether an expression is a literal text, with values in it or not. */
function isText(node: ts.Expression): boolean {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  if (ts.isConditionalExpression(node)) return isText(node.whenTrue) && isText(node.whenFalse);
  if (ts.isCallExpression(node)) return /^describe[A-Z]/.test(node.expression.getText());
  // A text of several parts begins with a literal.
  return ts.isBinaryExpression(node) && isText(node.left);
}
