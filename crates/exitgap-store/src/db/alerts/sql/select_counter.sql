SELECT value FROM counter WHERE name = :name;
