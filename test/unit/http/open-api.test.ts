import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineContract } from '../../../src/contract/index.ts';
import { toOpenApi } from '../../../src/http/index.ts';

const bikes = defineContract('bikes', {
  bike: { access: 'read', args: z.object({ id: z.int() }), result: z.object({ name: z.string() }) },
  rename: { access: 'write', args: z.object({ id: z.int(), name: z.string() }), result: z.null() },
});

test('describes a read by GET and POST, and a write by POST alone', () => {
  const { openapi, info, servers, paths } = toOpenApi(bikes, { version: '1.0.0', url: '/bikes' });
  expect({ openapi, info, servers }).toEqual({
    openapi: '3.1.0',
    info: { title: 'bikes', version: '1.0.0' },
    servers: [{ url: '/bikes' }],
  });
  expect(Object.keys(paths['/bike'] ?? {})).toEqual(['get', 'post']);
  expect(Object.keys(paths['/rename'] ?? {})).toEqual(['post']);
});

test('has the schemas of arguments and results', () => {
  const { post } = toOpenApi(bikes).paths['/bike'] as { readonly post: Record<string, never> };
  const { requestBody, responses } = post as never as {
    readonly requestBody: { readonly content: Record<string, { readonly schema: unknown }> };
    readonly responses: Record<
      string,
      { readonly content: Record<string, { readonly schema: { anyOf: unknown[] } }> }
    >;
  };
  expect(requestBody.content['application/json']?.schema).toMatchObject({
    type: 'object',
    properties: { id: { type: 'integer' } },
    required: ['id'],
  });
  expect(responses['200']?.content['application/x-ndjson']?.schema.anyOf[0]).toMatchObject({
    properties: { value: { properties: { name: { type: 'string' } } } },
  });
});
