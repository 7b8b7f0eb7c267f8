// This file configures Prisma's command line, which is in tools/. It is a plain object, because a plain object needs no
// Prisma package.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
};
