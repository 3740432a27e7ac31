/** Converts schemas to JSON Schema, for code at the sites that draws arguments of operations. */
import { toJSONSchema } from 'zod/v4/core';
import type * as z from 'zod/v4-mini';
import type { Schema } from './schema-parts.ts';

/** The part of JSON Schema (2020-12) to which zod converts its schemas. */
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
 * Returns the schema's input as JSON Schema, to draw values from. A type that JSON Schema cannot
 * express becomes any value.
 */
export function toInputJsonSchema(schema: Schema): JsonSchema {
  try {
    return toJSONSchema(schema as z.core.$ZodType, {
      io: 'input',
      unrepresentable: 'any',
    }) as JsonSchema;
  } catch {
    return {};
  }
}
