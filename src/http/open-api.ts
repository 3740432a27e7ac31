/** Describes the operations of a contract for clients in other languages. */
import { toJSONSchema } from 'zod/v4/core';
import type * as z from 'zod/v4-mini';
import type { ContractInfo, OperationSpec } from '../contract/contract.ts';
import { checkRegistry } from '../contract/operation-registry.ts';
import type { Schema } from '../contract/schema-parts.ts';
import { anyValue, optional, readOptions, type OptionsOf } from '../correctable/options.ts';
import { IDEMPOTENCY_HEADER, LEVELS_HEADER } from './operation-request.ts';
import { MEDIA_TYPES } from './view-message.ts';

/** Options of `toOpenApi`. */
export interface OpenApiOptions {
  /** Title of the API. Default: the name of the contract */
  readonly title?: string | undefined;
  /** Version of the API. Default: the hash of the contract */
  readonly version?: string | undefined;
  /** Address of the handler. Default: `/api` */
  readonly url?: string | undefined;
}

/** An OpenAPI 3.1 document, as plain data. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const CALL = "toOpenApi(contract, { url: '/api' })";

export const OPEN_API_OPTIONS = {
  title: optional(anyValue),
  version: optional(anyValue),
  url: optional(anyValue, '/api'),
} satisfies OptionsOf<OpenApiOptions>;

/**
 * Returns an OpenAPI document of what `httpHandler` serves: a path for each operation. A reply is a
 * list of JSON lines, one for each view.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if there is no contract
 * @example app.get('/openapi.json', (_, res) => res.json(toOpenApi(bikes, { url: '/api' })));
 */
export function toOpenApi(contract: ContractInfo, options: OpenApiOptions = {}): OpenApiDocument {
  checkRegistry(contract, CALL);
  const {
    title = contract.name,
    version = contract.hash,
    url,
  } = readOptions(options, { call: CALL }, OPEN_API_OPTIONS);
  const paths = Object.entries(contract.operations).map(
    ([name, operation]) => [`/${name}`, describePath(name, operation)] as const,
  );
  return {
    openapi: '3.1.0',
    info: { title, version },
    servers: [{ url }],
    paths: Object.fromEntries(paths),
  };
}

function describePath(name: string, operation: OperationSpec): Readonly<Record<string, unknown>> {
  const levels = describeHeader(
    LEVELS_HEADER,
    'The requested levels, separated by commas. Default: all',
  );
  const key = describeHeader(
    IDEMPOTENCY_HEADER,
    'Names the write, so that a repetition is not executed again',
  );
  const args = toSchema(operation.args, 'input');
  const isRead = operation.access === 'read';
  const post = {
    operationId: name,
    parameters: isRead ? [levels] : [levels, key],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: args } },
    },
    responses: describeReplies(operation),
  };
  if (!isRead) return { post };

  const query = {
    name: 'args',
    in: 'query',
    content: { 'application/json': { schema: args } },
  };
  const get = {
    operationId: `${name}ByQuery`,
    parameters: [query, levels],
    responses: describeReplies(operation),
  };
  return { get, post };
}

function describeHeader(name: string, description: string): object {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function describeReplies({ result }: OperationSpec): object {
  const view = {
    type: 'object',
    required: ['level'],
    properties: {
      level: { type: 'string' },
      value: toSchema(result, 'output'),
      final: { const: true },
      version: {},
      meta: { type: 'object' },
    },
  };
  return {
    200: {
      description:
        'A line for each view. The last one has `final`, or is an error. A view without a value has that of the view before it.',
      content: {
        [MEDIA_TYPES.ndjson]: { schema: { anyOf: [view, ERROR_SCHEMA] } },
      },
    },
    default: {
      description: 'The operation failed before the first view',
      content: { 'application/json': { schema: ERROR_SCHEMA } },
    },
  };
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'retryable'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        field: { type: 'string' },
        retryable: { type: 'boolean' },
        retryAfterMs: { type: 'number' },
      },
    },
  },
};

/**
 * Converts a schema to JSON Schema. A schema that JSON Schema cannot express becomes one that
 * accepts any value.
 */
function toSchema(schema: Schema, io: 'input' | 'output'): object {
  try {
    const { $schema: _, ...described } = toJSONSchema(schema as z.core.$ZodType, {
      io,
      unrepresentable: 'any',
    });
    return described;
  } catch {
    return {};
  }
}
