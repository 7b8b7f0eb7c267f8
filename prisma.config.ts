// This file configures Prisma's command line, which is installed in tools/. The configuration is a plain object,
// because a plain object needs no import of a Prisma package.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
};
