/** What a schema takes, as JSON Schema: for whoever draws arguments of operations, at the sites only. */
import { toJSONSchema } from 'zod/v4/core';
import type * as z from 'zod/v4-mini';
import type { Schema } from './schema-parts.ts';

/** As much of JSON Schema (2020-12) as schemas of zod are told in. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: boolean | JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/**
 * The schema's input as JSON Schema. What has no form there, such as a date, may be anything in it, and so may all of a
 * schema that cannot be told: it is for drawing values that the schema itself is then asked about.
 */
export function toInputJsonSchema(schema: Schema): JsonSchema {
  try {
    return toJSONSchema(schema as z.core.$ZodType, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  } catch {
    return {};
  }
}
