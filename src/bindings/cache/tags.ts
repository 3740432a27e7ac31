/**
 * What a view depends on, and what a change reaches: marks, so that the two
 * have only to be compared.
 */
import { getViewPrincipals } from './cache-key.ts';

/** The marks that a change reaches; `undefined` for all there are. */
export type TagScope = readonly string[] | undefined;

/** On views that may depend on any object. */
const ANY_OBJECT_TAG = 'any';

/** What changes with these objects; with `undefined`, everything may. */
export function getScope(touches: readonly string[] | undefined): TagScope {
  return touches && [ANY_OBJECT_TAG, ...touches.map(getObjectTag)];
}

/** What belongs to `principal`; with `undefined`, to anybody. */
export function getPrincipalScope(principal: string | undefined): TagScope {
  return principal === undefined ? undefined : [getPrincipalTag(principal)];
}

export function getTags(
  id: string,
  touches: readonly string[] | undefined,
): readonly string[] {
  return [
    ...getViewPrincipals(id).map(getPrincipalTag),
    ...getObjectTags(touches),
  ];
}

export function getObjectTags(
  touches: readonly string[] | undefined,
): readonly string[] {
  return touches?.map(getObjectTag) ?? [ANY_OBJECT_TAG];
}

export function getViewTag(id: string): string {
  return `view ${id}`;
}

function getObjectTag(key: string): string {
  return `object ${key}`;
}

function getPrincipalTag(principal: string): string {
  return `principal ${principal}`;
}
