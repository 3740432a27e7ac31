/** The Standard Schema interface (standardschema.dev), which zod, valibot and arktype have. */
import { describeIssue } from '../../../values/describe-issue.ts';
import { CorrectableError } from '../../../correctable/errors.ts';

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type ValidationResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** Any schema, with any input and output. */
export interface AnySchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    // Declared as a method, so that every schema fits: methods are compared bivariantly.
    validate(value: unknown): ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** The input type of a schema. */
export type SchemaInput<S extends AnySchema> = NonNullable<S['~standard']['types']>['input'];
/** The output type of a schema. */
export type SchemaOutput<S extends AnySchema> = NonNullable<S['~standard']['types']>['output'];

export interface MismatchContext {
  readonly code: 'INVALID_ARGUMENT' | 'INVALID_VALUE';
  /** The name of the value in the message, and the start of the path, for example `args`. */
  readonly root: string;
  /** The subject of the error, for example the statement. */
  readonly subject: string;
}

/**
 * Returns the value that the schema returns. @throws CorrectableError with the path of the first
 * issue.
 */
export function validateWithSchema(
  schema: AnySchema,
  value: unknown,
  { code, root, subject }: MismatchContext,
): unknown {
  const outcome = schema['~standard'].validate(value);
  if (outcome instanceof Promise) {
    outcome.catch(() => {});
    throw new CorrectableError(
      'UNSUPPORTED',
      `${subject}: give a schema for ${root} that needs not wait`,
      {
        field: root,
      },
    );
  }
  if (outcome.issues === undefined) return outcome.value;
  const [issue] = outcome.issues;
  const field = [root, ...(issue?.path ?? []).map(formatPathStep)].join('.');
  throw new CorrectableError(
    code,
    `${subject}: ${field}: ${describeIssue(issue, 'does not fit')}`,
    {
      field,
    },
  );
}

function formatPathStep(step: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof step === 'object' ? step.key : step);
}
