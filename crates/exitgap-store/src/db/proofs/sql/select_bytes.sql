SELECT bytes FROM nodes WHERE no = :no
