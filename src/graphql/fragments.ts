import { type DocumentNode, type FragmentDefinitionNode, Kind } from 'graphql';

/** Returns the fragments of a GraphQL document, by name. */
export const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
